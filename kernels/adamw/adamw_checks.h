// Checks of the AdamW operators. Included only by *_ops.cpp.
#pragma once

#include <ATen/ATen.h>

#include "kernels/adamw/adamw_ops.h"

namespace headroom::kernels {

// The control's tensors as pointers, all null on meta. Throws c10::Error with the operator's `name`.
AdamWSwitches checked_switches(const AdamWControl& control, at::Device device, const char* name);

// Storage of the weight, its gradient and its copy; the moments' keeps its default. Throws likewise.
AdamWTypes checked_weight(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& working,
                          const AdamWControl& control, const char* name);

}  // namespace headroom::kernels
