// One AdamW step over one tensor, in place, on raw memory: what the CPU and CUDA kernels have in common. No torch.
#pragma once

#include <cstdint>

#include "kernels/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// Everything that does not differ from element to element; worked out once a step on the host.
struct AdamWStep {
  float decay;  // 1 − η λ
  float beta1, beta2;
  float step_size;            // η / (1 − β1^t)
  float second_moment_scale;  // 1 / √(1 − β2^t)
  float epsilon;
};

// `t` counts steps from 1. Worked out in double: 1 − 0.999^1 in fp32 would keep four digits.
AdamWStep adamw_step_constants(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                               std::int64_t t);

template <typename T>
struct AdamWTensors {
  T* param;           // [N]
  const T* gradient;  // [N]
  T* first_moment;    // [N]
  T* second_moment;   // [N]
};

// Elements [begin, end) on the calling thread.
void adamw_cpu(const AdamWTensors<float>& tensors, std::int64_t begin, std::int64_t end, const AdamWStep& step);
void adamw_cpu(const AdamWTensors<Bf16>& tensors, std::int64_t begin, std::int64_t end, const AdamWStep& step);

// Queues n elements on the stream; allocates nothing. Returns the launch's cudaError_t (0: queued).
int adamw_cuda(const AdamWTensors<float>& tensors, std::int64_t n, const AdamWStep& step, CUstream_st* stream);
int adamw_cuda(const AdamWTensors<Bf16>& tensors, std::int64_t n, const AdamWStep& step, CUstream_st* stream);

}  // namespace headroom::kernels
