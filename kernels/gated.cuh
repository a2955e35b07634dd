// The kernels of SwiGLU and GeGLU: one pass, each array read or written once. An Activation<T> has
//   static __device__ float value(float x);                         the activation
//   static __device__ ValueAndSlope value_and_slope(float x);       and its derivative
// where T is the storage: for 16-bit storage the fast exponential is exact enough, for fp32 it is not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/gated.h"
#include "kernels/pack.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

struct ValueAndSlope {
  float value, slope;
};

// 1 / (1 + e^−x); 0 at −∞ and 1 at ∞.
template <typename T>
__device__ __forceinline__ float sigmoid(float x) {
  if constexpr (std::is_same_v<T, float>) {
    return 1.0f / (1.0f + expf(-x));
  } else {
    return __fdividef(1.0f, 1.0f + __expf(-x));
  }
}

namespace gated {

#ifndef TUNE_T
#define TUNE_T 256
#endif
#ifndef TUNE_F
#define TUNE_F 2
#endif
#ifndef TUNE_B
#define TUNE_B 1
#endif
constexpr int kThreads = TUNE_T;
constexpr int kForwardPacks = TUNE_F;   // 16-byte loads of each array that a thread has under way
constexpr int kBackwardPacks = TUNE_B;


// One pack of kWidth elements, wherever it lies.
template <typename Activation, typename T, int kWidth>
struct Forward {
  using Args = GatedForward;
  Pack<T, kWidth> gate, up;

  __device__ __forceinline__ void load(const Args& args, std::int64_t pack) {
    gate = load_pack<kWidth>(static_cast<const T*>(args.gate) + pack * kWidth);
    up = load_pack<kWidth>(static_cast<const T*>(args.up) + pack * kWidth);
  }
  __device__ __forceinline__ void finish(const Args& args, std::int64_t pack) {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      kernels::store(up.element[k], Activation::value(kernels::load(gate.element[k])) * kernels::load(up.element[k]));
    }
    store_pack(static_cast<T*>(args.h) + pack * kWidth, up);
  }
};

template <typename Activation, typename T, int kWidth, bool kRebuild>
struct Backward {
  using Args = GatedBackward;
  Pack<T, kWidth> dh, gate, up;

  __device__ __forceinline__ void load(const Args& args, std::int64_t pack) {
    dh = load_pack<kWidth>(static_cast<const T*>(args.dh) + pack * kWidth);
    gate = load_pack<kWidth>(static_cast<const T*>(args.gate) + pack * kWidth);
    up = load_pack<kWidth>(static_cast<const T*>(args.up) + pack * kWidth);
  }
  __device__ __forceinline__ void finish(const Args& args, std::int64_t pack) {
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      const float d = kernels::load(dh.element[k]), u = kernels::load(up.element[k]);
      const ValueAndSlope a = Activation::value_and_slope(kernels::load(gate.element[k]));
      kernels::store(gate.element[k], d * u * a.slope);
      kernels::store(up.element[k], d * a.value);
      if constexpr (kRebuild) kernels::store(dh.element[k], a.value * u);
    }
    store_pack(static_cast<T*>(args.dgate) + pack * kWidth, gate);
    store_pack(static_cast<T*>(args.dup) + pack * kWidth, up);
    if constexpr (kRebuild) store_pack(static_cast<T*>(args.h) + pack * kWidth, dh);
  }
};

// Each block takes kPacks · kThreads packs; Single takes the elements behind the last whole pack.
template <typename Work, typename Single, int kPacks>
__global__ void __launch_bounds__(kThreads) gated_kernel(typename Work::Args args, std::int64_t packs,
                                                         std::int64_t tail_begin, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * (kPacks * kThreads) + threadIdx.x;
  Work work[kPacks];
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    if (first + i * kThreads < packs) work[i].load(args, first + i * kThreads);
  }
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    if (first + i * kThreads < packs) work[i].finish(args, first + i * kThreads);
  }
  if (tail_begin + first < n) {
    Single single;
    single.load(args, tail_begin + first);
    single.finish(args, tail_begin + first);
  }
}

template <typename Work, typename Single, int kPacks, int kWidth>
int launch(const typename Work::Args& args, std::int64_t n, CUstream_st* stream) {
  if (n == 0) return cudaSuccess;
  const std::int64_t packs = n / kWidth;
  // At least one block, for the tail, which is shorter than a pack.
  const std::int64_t blocks = std::max<std::int64_t>(1, (packs + kPacks * kThreads - 1) / (kPacks * kThreads));
  gated_kernel<Work, Single, kPacks>
      <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(args, packs, packs * kWidth, n);
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
      return gated::launch<Single, Single, gated::kForwardPacks, 1>(args, n, stream);
    }
    using Wide = gated::Forward<Activation<T>, T, kWidth>;
    return gated::launch<Wide, Single, gated::kForwardPacks, kWidth>(args, n, stream);
  });
}

template <template <typename> typename Activation, bool kRebuild>
int gated_backward_of(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) {
    using T = decltype(type);
    constexpr int kWidth = Vector<T>::kWidth;
    using Single = gated::Backward<Activation<T>, T, 1, kRebuild>;
    if (!aligned_all(args.dh, args.gate, args.up, args.dgate, args.dup, args.h)) {  // no h: null is aligned
      return gated::launch<Single, Single, gated::kBackwardPacks, 1>(args, n, stream);
    }
    using Wide = gated::Backward<Activation<T>, T, kWidth, kRebuild>;
    return gated::launch<Wide, Single, gated::kBackwardPacks, kWidth>(args, n, stream);
  });
}

template <template <typename> typename Activation>
int gated_backward_cuda(const GatedBackward& args, Storage storage, std::int64_t n, CUstream_st* stream) {
  return args.h != nullptr ? gated_backward_of<Activation, true>(args, storage, n, stream)
                           : gated_backward_of<Activation, false>(args, storage, n, stream);
}

}  // namespace headroom::kernels
