// Computes    m = β1 m + (1 − β1) g;  v = β2 v + (1 − β2) g²;  p = (1 − η λ) p − η m̂ / (√v̂ + ε), in place
// Shapes      p, g, m, v [N], contiguous
// Precision   storage bf16 or fp32, all four alike; arithmetic fp32; moments are rounded to storage after use
// Memory      allocates nothing; moves 7·N·s bytes, s = bytes an element
// Variants    one: 16 bytes a thread and tensor where all four pointers allow it, single elements for the tail
// Source      Loshchilov, Hutter 2019, arXiv:1711.05101, Algorithm 2
// Checked by  tests/kernels/adamw_gpu_test.cpp
#include <cstdint>

#include "kernels/adamw/adamw.h"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;

template <typename T>
__device__ void update(T& param, T gradient, T& first_moment, T& second_moment, const AdamWStep& step) {
  const float g = load(gradient);
  const float m = step.beta1 * load(first_moment) + (1.0f - step.beta1) * g;
  const float v = step.beta2 * load(second_moment) + (1.0f - step.beta2) * g * g;
  const float denominator = sqrtf(v) * step.second_moment_scale + step.epsilon;
  store(param, step.decay * load(param) - step.step_size * m / denominator);
  store(first_moment, m);
  store(second_moment, v);
}

// Thread i takes vector i of [0, vectors); the first threads also take one element each of the tail behind them.
template <typename T>
__global__ void adamw_kernel(AdamWTensors<T> tensors, std::int64_t n, std::int64_t vectors, AdamWStep step) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < vectors) {
    auto* const params = reinterpret_cast<Vector<T>*>(tensors.param);
    auto* const first_moments = reinterpret_cast<Vector<T>*>(tensors.first_moment);
    auto* const second_moments = reinterpret_cast<Vector<T>*>(tensors.second_moment);
    Vector<T> p = params[i];
    const Vector<T> g = reinterpret_cast<const Vector<T>*>(tensors.gradient)[i];
    Vector<T> m = first_moments[i];
    Vector<T> v = second_moments[i];
#pragma unroll
    for (int k = 0; k < Vector<T>::kWidth; ++k) update(p.element[k], g.element[k], m.element[k], v.element[k], step);
    params[i] = p;
    first_moments[i] = m;
    second_moments[i] = v;
  }
  const std::int64_t tail = vectors * Vector<T>::kWidth + i;
  if (tail < n) {
    update(tensors.param[tail], tensors.gradient[tail], tensors.first_moment[tail], tensors.second_moment[tail], step);
  }
}

template <typename T>
int launch(const AdamWTensors<T>& tensors, std::int64_t n, const AdamWStep& step, CUstream_st* stream) {
  if (n == 0) return cudaSuccess;
  const bool wide = aligned(tensors.param) && aligned(tensors.gradient) && aligned(tensors.first_moment) &&
                    aligned(tensors.second_moment);
  const std::int64_t vectors = wide ? n / Vector<T>::kWidth : 0;
  const std::int64_t tail = n - vectors * Vector<T>::kWidth;
  const std::int64_t threads = vectors > tail ? vectors : tail;
  // Worked example: the largest tensor of Llama 3 8B, 128256 · 4096 bf16 = 6.6e7 vectors = 256,512 blocks.
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  adamw_kernel<T><<<blocks, kThreads, 0, stream>>>(tensors, n, vectors, step);
  return cudaGetLastError();
}

}  // namespace

int adamw_cuda(const AdamWTensors<float>& tensors, std::int64_t n, const AdamWStep& step, CUstream_st* stream) {
  return launch(tensors, n, step, stream);
}

int adamw_cuda(const AdamWTensors<Bf16>& tensors, std::int64_t n, const AdamWStep& step, CUstream_st* stream) {
  return launch(tensors, n, step, stream);
}

}  // namespace headroom::kernels
