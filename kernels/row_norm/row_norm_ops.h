// Shared by the norms' operators: checks, raw arguments and the backward pass.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"
#include "kernels/row_norm/row_norm.h"

namespace headroom::kernels::row_norm {

// The checks throw c10::Error with `name`.
void check_input(const char* name, const at::Tensor& x, const at::Tensor& weight_H);
void check_like(const char* name, const char* what, const at::Tensor& other, const at::Tensor& x);
void check_statistic(const char* name, const char* what, const at::Tensor& statistic, const at::Tensor& x);

std::int64_t rows_of(const at::Tensor& x);
// [rows] fp32 on the device of x.
at::Tensor new_statistic(const at::Tensor& x);

NormForward forward_arguments(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// run_forward() is a no-op on meta or without rows.
using ForwardCuda = int (*)(const NormForward&, CUstream_st*);
using ForwardCpu = void (*)(const NormForward&, std::int64_t begin, std::int64_t end);
void run_forward(const char* name, const at::Tensor& x, const NormForward& norm, ForwardCuda cuda, ForwardCpu cpu);

// Absent tensors are undefined.
struct BackwardInputs {
  at::Tensor dy, x, weight_H, mean, rstd, d_sum;
  bool has_bias = false;
  bool overwrite_dy = false;
};
using BackwardCuda = int (*)(const NormBackward&, CUstream_st*);
using BackwardCpu = void (*)(const NormBackward&, std::int64_t part, std::int64_t parts);
// Checks, allocates and runs the backward pass.
NormGradients run_backward(const char* name, const BackwardInputs& inputs, BackwardCuda cuda, BackwardCpu cpu);

}  // namespace headroom::kernels::row_norm
