// The scales of a model's fp8 operands, from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/state_tensor.h"
#include "demos/predict/techniques.h"
#include "kernels/fp8_cast/fp8_cast_ops.h"

namespace headroom::llama {

// Of each projection three: its input's, its weight's and its result's gradient's.
enum class Fp8Tensor : std::uint8_t { kInput, kWeight, kGradient };

class Fp8Scales {
 public:
  Fp8Scales(std::int64_t projections, predict::Fp8Scaling scaling, at::Device device);

  // Codes of a tensor [R, C] that is new, with its scale: by its own largest magnitude, or by those of the last steps. A
  // delayed scale of the first step is its own: with 1 in its place small gradients would become 0.
  kernels::Fp8Codes cast(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                         const kernels::Fp8Layouts& layouts);
  // Codes of a tensor that was cast before in this step, by the same scale.
  kernels::Fp8Codes cast_again(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                               const kernels::Fp8Layouts& layouts) const;
  // As cast(), in the tensor's memory, of 16 bits: its numbers are gone.
  at::Tensor cast_in_place(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which);
  // cast_again() for some of its rows, transposed, into columns of the codes of all.
  void cast_again_into(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which, at::Tensor& codes_CR) const;
  at::Tensor scaling(std::int64_t projection, Fp8Tensor which) const;
  void end_step();
  // What is cast while off leaves no trace in delayed scales, which are of what is trained on.
  void set_training(bool on) { training_ = on; }
  // So many scales could not be worked out and stayed as they were. Waits for the device; on meta none.
  std::int64_t not_scaled() const;
  std::vector<StateTensor> state();

 private:
  // Sees to a new tensor's scale. True: its cast must look for the largest magnitude, for the scales of later steps.
  bool prepare(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which);

  predict::Fp8Scaling scaling_;
  bool training_ = true;
  at::Tensor table_;          // a row for each tensor
  at::Tensor not_scaled_;     // int32 [1]
  std::vector<std::uint8_t> scaled_;  // 1: has a delayed scale
};

}  // namespace headroom::llama
