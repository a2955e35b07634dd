// One AdamW step over many tensors, in place, on raw memory: what the CPU and CUDA kernels have in common. No torch.
#pragma once

#include <cstdint>
#include <span>

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

// How a tensor's four arrays are stored.
struct AdamWTypes {
  Storage param = Storage::kFp32;
  Storage gradient = Storage::kFp32;  // the parameter's, or fp32
  Storage moment = Storage::kFp32;    // fp32 or bf16: an fp16 second moment would underflow

  bool operator==(const AdamWTypes&) const = default;
  bool supported() const { return (gradient == param || gradient == Storage::kFp32) && moment != Storage::kFp16; }
};

struct AdamWTensor {
  void* param;           // [n]
  const void* gradient;  // [n]
  void* first_moment;    // [n]
  void* second_moment;   // [n]
  std::int64_t n;
  bool decays;  // whether AdamWStep::decay applies
};

// Elements [begin, end) of one tensor on the calling thread.
void adamw_cpu(const AdamWTensor& tensor, AdamWTypes types, std::int64_t begin, std::int64_t end,
               const AdamWStep& step);

// Queues all tensors on the stream, kMostTensors a launch; allocates nothing. Returns the first failed launch's
// cudaError_t (0: queued).
int adamw_cuda(std::span<const AdamWTensor> tensors, AdamWTypes types, const AdamWStep& step, CUstream_st* stream);

}  // namespace headroom::kernels
