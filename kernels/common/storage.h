// Number formats of tensors in memory, for kernels that know no torch.
#pragma once

#include <cstdint>

namespace headroom::kernels {

// Number format of elements in memory. Arithmetic is fp32 whatever the storage.
enum class Storage : std::uint8_t { kFp32, kBf16, kFp16 };

// A bf16 number in memory: the upper half of an fp32.
struct Bf16 {
  std::uint16_t bits;
};

// An IEEE half in memory.
struct Fp16 {
  std::uint16_t bits;
};

constexpr std::int64_t bytes_of(Storage storage) { return storage == Storage::kFp32 ? 4 : 2; }

// Calls f(T{}) with float, Bf16 or Fp16: one place that goes from the run-time format to the type of a template.
template <typename F>
auto with_storage(Storage storage, F&& f) {
  switch (storage) {
    case Storage::kBf16:
      return f(Bf16{});
    case Storage::kFp16:
      return f(Fp16{});
    case Storage::kFp32:
      break;
  }
  return f(float{});
}

}  // namespace headroom::kernels
