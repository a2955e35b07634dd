// What the norms' operators have in common: checks, raw arguments, and the backward pass that all three share.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/row_norm/norm_gradients.h"
#include "kernels/row_norm/row_norm.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels::row_norm {

// Throws c10::Error unless x is contiguous, of a type there is a kernel for, and not without columns, and weight is
// [H] like it. `name` opens the sentence.
void check_input(const char* name, const at::Tensor& x, const at::Tensor& weight_H);
// … unless `other` has the shape, type and device of x and is contiguous.
void check_like(const char* name, const char* what, const at::Tensor& other, const at::Tensor& x);
// … unless `statistic` is [rows] fp32 on the device of x.
void check_statistic(const char* name, const char* what, const at::Tensor& statistic, const at::Tensor& x);

Storage storage_of(const at::Tensor& x);
std::int64_t rows_of(const at::Tensor& x);
// [rows] fp32 on the device of x.
at::Tensor new_statistic(const at::Tensor& x);

// x, weight, rows, width, storage and ε; the caller adds the rest.
NormForward forward_arguments(const at::Tensor& x, const at::Tensor& weight_H, double epsilon);

// Runs a pass over all rows on the device of x; nothing on meta or without rows.
using ForwardCuda = int (*)(const NormForward&, CUstream_st*);
using ForwardCpu = void (*)(const NormForward&, std::int64_t begin, std::int64_t end);
void run_forward(const char* name, const at::Tensor& x, const NormForward& norm, ForwardCuda cuda, ForwardCpu cpu);

// The inputs of a backward pass; what a norm does not have stays undefined.
struct BackwardInputs {
  at::Tensor dy, x, weight_H, mean, rstd, d_sum;
  bool has_bias = false;
  bool overwrite_dy = false;
};
using BackwardCuda = int (*)(const NormBackward&, CUstream_st*);
using BackwardCpu = void (*)(const NormBackward&, std::int64_t part, std::int64_t parts);
// Checks, allocates and runs: the one place where backward takes memory.
NormGradients run_backward(const char* name, const BackwardInputs& inputs, BackwardCuda cuda, BackwardCpu cpu);

}  // namespace headroom::kernels::row_norm
