// Kernels of SwiGLU and GeGLU: one pass, each array read or written once. An Activation<T> has value(float) and
// value_and_slope(float), which also gives the derivative. For 16-bit storage T the fast exponential is exact enough;
// for fp32 it is not.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/gated/gated.h"

namespace headroom::kernels {

struct ValueAndSlope {
  float value, slope;
};

// 1 / (1 + e^−x), also at ±∞.
template <typename T>
__device__ __forceinline__ float sigmoid(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return 1.0f / (1.0f + expf(-x));
  } else {
    return __fdividef(1.0f, 1.0f + __expf(-x));
  }
}

namespace gated {

constexpr int kThreads = 256;

template <typename Activation, typename T, int kWidth>
struct Forward {
  using Args = GatedForward;

  static __device__ __forceinline__ void run(const Args& args, std::int64_t pack) {
    const Pack<T, kWidth> gate = load_pack<kWidth>(static_cast<const T*>(args.gate) + pack * kWidth);
    Pack<T, kWidth> up = load_pack<kWidth>(static_cast<const T*>(args.up) + pack * kWidth);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      store(up.element[k], Activation::value(load(gate.element[k])) * load(up.element[k]));
    }
    store_pack(static_cast<T*>(args.h) + pack * kWidth, up);
  }
};

template <typename Activation, typename T, int kWidth, bool kRebuild>
struct Backward {
  using Args = GatedBackward;

  static __device__ __forceinline__ void run(const Args& args, std::int64_t pack) {
    Pack<T, kWidth> dh = load_pack<kWidth>(static_cast<const T*>(args.dh) + pack * kWidth);
    Pack<T, kWidth> gate = load_pack<kWidth>(static_cast<const T*>(args.gate) + pack * kWidth);
    Pack<T, kWidth> up = load_pack<kWidth>(static_cast<const T*>(args.up) + pack * kWidth);
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float d = load(dh.element[k]), u = load(up.element[k]);
      const ValueAndSlope a = Activation::value_and_slope(load(gate.element[k]));
      store(gate.element[k], d * u * a.slope);
      store(up.element[k], d * a.value);
      if constexpr (kRebuild) store(dh.element[k], a.value * u);
    }
    store_pack(static_cast<T*>(args.dgate) + pack * kWidth, gate);
    store_pack(static_cast<T*>(args.dup) + pack * kWidth, up);
    if constexpr (kRebuild) store_pack(static_cast<T*>(args.h) + pack * kWidth, dh);
  }
};

// On an H200, two or four packs per thread and streaming past the caches were slower. `Single` computes the tail.
template <typename Work, typename Single>
__global__ void __launch_bounds__(kThreads)
    gated_kernel(typename Work::Args args, std::int64_t packs, std::int64_t tail_begin, std::int64_t n) {
  const std::int64_t pack = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pack < packs) Work::run(args, pack);
  if (tail_begin + pack < n) Single::run(args, tail_begin + pack);
}

template <typename Work, typename Single, int kWidth>
int launch(const typename Work::Args& args, std::int64_t n, CUstream_st* stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t packs = n / kWidth;
  const std::int64_t blocks = packs / kThreads + 1;  // the tail is shorter than a block
  gated_kernel<Work, Single><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(args, packs, packs * kWidth, n);
  return cudaGetLastError();
}

}  // namespace gated

template <template <typename> typename Activation>
int gated_forward_cuda(const GatedForward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) {
    using T = decltype(type);
    constexpr int kWidth = Vector<T>::kWidth;
    using Single = gated::Forward<Activation<T>, T, 1>;
    if (!aligned_all(args.gate, args.up, args.h)) {
      return gated::launch<Single, Single, 1>(args, n, stream);
    }
    using Wide = gated::Forward<Activation<T>, T, kWidth>;
    return gated::launch<Wide, Single, kWidth>(args, n, stream);
  });
}

template <template <typename> typename Activation, bool kRebuild>
int gated_backward_of(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) {
    using T = decltype(type);
    constexpr int kWidth = Vector<T>::kWidth;
    using Single = gated::Backward<Activation<T>, T, 1, kRebuild>;
    if (!aligned_all(args.dh, args.gate, args.up, args.dgate, args.dup, args.h)) {  // a null h counts as aligned
      return gated::launch<Single, Single, 1>(args, n, stream);
    }
    using Wide = gated::Backward<Activation<T>, T, kWidth, kRebuild>;
    return gated::launch<Wide, Single, kWidth>(args, n, stream);
  });
}

template <template <typename> typename Activation>
int gated_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return args.h != nullptr ? gated_backward_of<Activation, true>(args, storage, n, stream)
                           : gated_backward_of<Activation, false>(args, storage, n, stream);
}

}  // namespace headroom::kernels
