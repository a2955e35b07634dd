// One AdamW step over many tensors, in place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/common/storage.h"

namespace headroom::kernels {

// Constants of a step.
struct AdamWStep {
  float decay;  // 1 − η λ
  float beta1, beta2;
  float step_size;            // η / (1 − β1^t)
  float second_moment_scale;  // 1 / √(1 − β2^t)
  float epsilon;
  // Used if only the device knows t.
  std::int64_t t;
  double learning_rate, exact_beta1, exact_beta2;
};

// `t` counts from 1. Computes in double: in fp32, 1 − 0.999^1 would keep only four digits.
AdamWStep adamw_step_constants(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                               std::int64_t t);

// Optional device pointers, and the rounding of parameters.
struct AdamWSwitches {
  const float* inverse_scale = nullptr;      // [1], scales the gradients
  const std::int32_t* overflow = nullptr;    // [1]; if not 0, nothing changes
  const std::int64_t* step_count = nullptr;  // [1], t
  bool stochastic_rounding = false;
  std::uint64_t seed = 0;
};

// The gradient's type is fp32 or that of the working copy (of the parameter, without a copy).
struct AdamWTypes {
  Storage param = Storage::kFp32;
  Storage gradient = Storage::kFp32;
  Storage moment = Storage::kFp32;  // not fp16: second moments would underflow
  std::optional<Storage> working;   // type of the copy of an fp32 master

  bool operator==(const AdamWTypes&) const = default;
  bool supported() const {
    const bool copy_fits = !working || (param == Storage::kFp32 && *working != Storage::kFp32);
    return copy_fits && (gradient == working.value_or(param) || gradient == Storage::kFp32) && moment != Storage::kFp16;
  }
};

struct AdamWTensor {
  void* param = nullptr;           // [n]
  const void* gradient = nullptr;  // [n]
  void* first_moment = nullptr;    // [n]
  void* second_moment = nullptr;   // [n]
  std::int64_t n = 0;
  bool decays = true;
  void* working = nullptr;  // [n], optional
  std::int64_t number = 0;  // for stochastic rounding
};

// Steps elements [begin, end) of one tensor.
void adamw_cpu(const AdamWTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
               const AdamWStep& step, const AdamWSwitches& switches);

int adamw_cuda(std::span<const AdamWTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
               const AdamWSwitches& switches, CUstream_st* stream);

int advance_step_count_cuda(std::int64_t* counter, const std::int32_t* overflow, CUstream_st* stream);

}  // namespace headroom::kernels
