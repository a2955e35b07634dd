// Launches the CUDA kernels without LibTorch, in buffers of the exact size; takes seconds under compute-sanitizer.
// tests/kernels checks the results.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/storage.h"

namespace headroom::tests {

inline constexpr kernels::Storage kStorages[] = {kernels::Storage::kFp32, kernels::Storage::kBf16,
                                                 kernels::Storage::kFp16};

// The contents of new memory. initcheck reports reads of memory with kNothing. It misses writes by bulk copies and
// cuBLASLt, so memory that these write starts with kNan, which is NaN in every format and stays in results that are not
// written completely.
enum class Fill : std::uint8_t { kNothing, kZeros, kNan };

// Each buffer comes from cudaMalloc with exactly its size, so that out-of-bounds accesses are detected.
class Buffers {
 public:
  // Tensors start `skip` elements into their buffer and end with it; a skip of 1 prevents wide loads.
  explicit Buffers(std::int64_t skip = 0) : skip_(skip) {}
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void* tensor(kernels::Storage storage, std::int64_t n, Fill fill = Fill::kNothing);
  // Random numbers of standard deviation `scale`.
  void* random(kernels::Storage storage, std::int64_t n, float scale = 1);

  // Ignores `skip`.
  void* bytes(std::int64_t count, Fill fill = Fill::kNothing);
  template <typename T>
  T* array(std::int64_t n, Fill fill = Fill::kNothing) {
    return static_cast<T*>(bytes(n * static_cast<std::int64_t>(sizeof(T)), fill));
  }
  template <typename T>
  T* copied(const std::vector<T>& values) {
    return static_cast<T*>(copied_bytes(values.data(), static_cast<std::int64_t>(values.size() * sizeof(T))));
  }

 private:
  void* copied_bytes(const void* from, std::int64_t count);

  std::int64_t skip_;
  std::uint64_t random_ = 1;
  std::vector<void*> all_;
};

// "rope bf16 2 x 9, unaligned"
std::string named(std::string_view kernel, kernels::Storage storage, std::initializer_list<std::int64_t> sizes = {},
                  std::int64_t skip = 0);

class KernelDriver {
 public:
  // Waits for a launch and reports CUDA errors. `queued` is what the launcher returned.
  void run(const std::string& name, int queued);
  void expect_finite(const std::string& name, kernels::Storage storage, const void* numbers, std::int64_t n);
  void fail(const std::string& name, std::string_view why);
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

// One kernel of the list in kernels/CMakeLists.txt: k<Name>Driven in a kernel_driver_<family>.cpp. The catalogue is
// generated from that list, so linking fails if one is missing.
struct DrivenKernel {
  std::string_view id;
  void (*drive)(KernelDriver& driver);
};
std::span<const DrivenKernel* const> driven_kernels();

}  // namespace headroom::tests
