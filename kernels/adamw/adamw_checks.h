// What the operators of the AdamW family check alike. Included only by *_ops.cpp.
#pragma once

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::kernels {

// The control's tensors as pointers (all null on meta). Throws c10::Error, with the operator's `name`, if one does not
// fit.
AdamWSwitches checked_switches(const AdamWControl& control, at::Device device, const char* name);

// How the weight, its gradient and its copy are stored; the moments' type is left as it is. The same errors.
AdamWTypes checked_weight(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& working,
                          const AdamWControl& control, const char* name);

}  // namespace headroom::kernels
