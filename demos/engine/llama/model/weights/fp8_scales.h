// Scales of a model's fp8 operands, kept across steps.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/predict/techniques.h"
#include "kernels/fp8_cast/fp8_cast_ops.h"

namespace headroom::llama {

enum class Fp8Tensor : std::uint8_t { kInput, kWeight, kGradient };

class Fp8Scales {
 public:
  Fp8Scales(std::int64_t projections, predict::Fp8Scaling scaling, at::Device device);

  // Casts a new tensor [R, C], scaled by its largest magnitude or, with delayed scaling, by the largest of the last
  // steps. The first delayed scale is the tensor's own, because a scale of 1 would turn small gradients into 0.
  kernels::Fp8Codes cast(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                         const kernels::Fp8Layouts& layouts);
  // Casts again with the same step's scale.
  kernels::Fp8Codes cast_again(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which,
                               const kernels::Fp8Layouts& layouts) const;
  // Like cast(), but overwrites the 16-bit tensor with its codes.
  at::Tensor cast_in_place(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which);
  // Like cast_again(), but for some rows: writes their codes, transposed, into columns of `codes_CR`.
  void cast_again_into(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which, at::Tensor& codes_CR) const;
  at::Tensor scaling(std::int64_t projection, Fp8Tensor which) const;
  void end_step();
  // While off, casts do not change delayed scales.
  void set_training(bool on) { training_ = on; }
  // Number of scales that could not be computed and were kept. Waits for the device.
  std::int64_t not_scaled() const;
  std::vector<StateTensor> state();

 private:
  // Updates a new tensor's scale. Returns true if its cast must find the largest magnitude for later scales.
  bool prepare(const at::Tensor& x_RC, std::int64_t projection, Fp8Tensor which);

  predict::Fp8Scaling scaling_;
  bool training_ = true;
  at::Tensor table_;
  at::Tensor not_scaled_;             // int32 [1]
  std::vector<std::uint8_t> scaled_;  // 1: has a delayed scale
};

}  // namespace headroom::llama
