// What the backward pass of every norm returns.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

struct NormGradients {
  at::Tensor dx;       // as x
  at::Tensor dweight;  // as the weight
  at::Tensor dbias;    // as the bias; undefined where the norm has none
};

}  // namespace headroom::kernels
