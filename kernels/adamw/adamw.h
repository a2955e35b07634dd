// One AdamW step over many tensors, in place, on raw memory: what the CPU and CUDA kernels have in common. No torch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

// Everything that does not differ from element to element; worked out once per step on the host.
struct AdamWStep {
  float decay;  // 1 − η λ
  float beta1, beta2;
  float step_size;            // η / (1 − β1^t)
  float second_moment_scale;  // 1 / √(1 − β2^t)
  float epsilon;
  // What the two lines with t are made of, for steps whose t only the device knows.
  std::int64_t t;
  double learning_rate, exact_beta1, exact_beta2;
};

// `t` counts steps from 1. Worked out in double: 1 − 0.999^1 in fp32 would keep four digits.
AdamWStep adamw_step_constants(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                               std::int64_t t);

// What a step reads from the memory of its device, each null where it does not, and how it rounds.
struct AdamWSwitches {
  const float* inverse_scale = nullptr;      // [1], gradients are multiplied by it
  const std::int32_t* overflow = nullptr;    // [1], not 0: nothing changes
  const std::int64_t* step_count = nullptr;  // [1], t
  bool stochastic_rounding = false;          // of bf16 parameters
  std::uint64_t seed = 0;
};

// How a tensor's arrays are stored.
struct AdamWTypes {
  Storage param = Storage::kFp32;
  Storage gradient = Storage::kFp32;  // the weight's as the model reads it, or fp32
  Storage moment = Storage::kFp32;    // fp32 or bf16: an fp16 second moment would underflow
  std::optional<Storage> working;     // of the copy beside an fp32 master; none: no copy

  bool operator==(const AdamWTypes&) const = default;
  bool supported() const {
    const bool copy_fits = !working || (param == Storage::kFp32 && *working != Storage::kFp32);
    return copy_fits && (gradient == working.value_or(param) || gradient == Storage::kFp32) && moment != Storage::kFp16;
  }
};

struct AdamWTensor {
  void* param;           // [n]
  const void* gradient;  // [n]
  void* first_moment;    // [n]
  void* second_moment;   // [n]
  std::int64_t n;
  bool decays;              // whether AdamWStep::decay applies
  void* working = nullptr;  // [n], where the types name one
  std::int64_t number = 0;  // of the tensor in the random numbers of stochastic rounding
};

// Elements [begin, end) of one tensor on the calling thread.
void adamw_cpu(const AdamWTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
               const AdamWStep& step, const AdamWSwitches& switches);

// Queues all tensors on the stream, kMostTensors per launch; allocates nothing. Returns the first failed launch's
// cudaError_t (0: queued).
int adamw_cuda(std::span<const AdamWTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
               const AdamWSwitches& switches, CUstream_st* stream);

// counter += 1, unless overflow is not null and not 0.
int advance_step_count_cuda(std::int64_t* counter, const std::int32_t* overflow, CUstream_st* stream);

}  // namespace headroom::kernels
