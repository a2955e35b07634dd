// The gradients that every norm's backward pass returns.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

struct NormGradients {
  at::Tensor dx;       // like x
  at::Tensor dweight;  // like the weight
  at::Tensor dbias;    // undefined without a bias
};

}  // namespace headroom::kernels
