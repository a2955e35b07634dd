// Number formats of tensors in memory, for kernels without torch. The kernels' …_cuda functions queue work on the
// stream, allocate nothing and return the first cudaError_t; …_cpu functions run on the calling thread.
#pragma once

#include <cstdint>

#define HEADROOM_INLINED __attribute__((always_inline))  // for lambdas
#define HEADROOM_INLINE inline HEADROOM_INLINED

struct CUstream_st;

namespace headroom::kernels {

// Arithmetic is fp32 whatever the storage.
enum class Storage : std::uint8_t { kFp32, kBf16, kFp16 };

// The upper half of an fp32 number.
struct Bf16 {
  std::uint16_t bits;
};

struct Fp16 {
  std::uint16_t bits;
};

constexpr std::int64_t bytes_of(Storage storage) { return storage == Storage::kFp32 ? 4 : 2; }

// Calls f(T{}) with float, Bf16 or Fp16. Inlined, so f's loops are compiled for the caller's instruction sets.
template <typename F>
HEADROOM_INLINE auto with_storage(Storage storage, F&& f) {
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
