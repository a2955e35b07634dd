// What SwiGLU and GeGLU give back.
#pragma once

#include <ATen/ATen.h>

namespace headroom::kernels {

struct GatedGradients {
  at::Tensor dgate, dup;
  at::Tensor h;  // the forward's product once more; undefined if it was not asked for
};

}  // namespace headroom::kernels
