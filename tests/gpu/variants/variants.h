// Ways to write a kernel beside each other: the current one and candidates for its place, timed in turns and compared.
// Temporary: a variant that wins becomes the product's kernel, the others go.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/storage.h"

namespace headroom::test {

// Device memory; throws std::runtime_error where there is none left.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::int64_t bytes() const { return bytes_; }
  // Nearly normal numbers of standard deviation `scale`.
  void fill(kernels::Storage storage, std::uint64_t seed, float scale = 1.0f) const;
  void fill_bytes(int value) const;
  void copy_from(const Memory& other) const;
  void upload(const void* from) const;

 private:
  void* data_ = nullptr;
  std::int64_t bytes_;
};

enum class Format : std::uint8_t { kFp32, kBf16, kByte };

// max |a − b| / (|b| + mean |b|) over all; infinite where one alone is NaN.
double relative_error(const Memory& a, const Memory& b, Format format);

// One way to compute it. The first of a list is the current kernel.
struct Variant {
  std::string name;
  std::function<int()> launch;  // what is timed; returns a cudaError_t
  std::function<double()>
      error;  // of its results against the current kernel's; runs before any timing. Throws a CUDA error
};

// Throws std::runtime_error with CUDA's words: what was queued, or the device, failed.
void must(int error);
void must_end(int queued);

// One kernel at one shape. `run` makes memory and variants and hands them to `measure`.
class Measurement;
struct Job {
  std::string kernel, shape;
  std::function<void(Measurement&)> run;
};

class Measurement {
 public:
  Measurement(const Job& job, void* progress) : job_(job), progress_(progress) {}
  // `bytes` read and written together, for the copy in the same turns.
  void measure(std::int64_t bytes, const std::vector<Variant>& variants);

 private:
  const Job& job_;
  void* progress_;
};

std::vector<Job> loss_jobs();
std::vector<Job> norm_jobs();
std::vector<Job> rope_jobs();
std::vector<Job> adamw_jobs();

}  // namespace headroom::test
