// A kernel and other ways to compute the same, for the benchmark and tests. Each <name>_case.cpp declares one case.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/kernel.h"

namespace headroom::kernels {

using Tensors = std::vector<at::Tensor>;
using Compute = std::function<Tensors(const Tensors& inputs)>;

// All inputs start `offset` elements into their memory; an offset of 1 prevents wide loads.
struct TensorMaker {
  at::ScalarType type = at::kFloat;
  at::Device device = at::kCPU;
  std::int64_t offset = 0;

  // Normally distributed numbers with standard deviation `scale`.
  at::Tensor random(at::IntArrayRef sizes, double scale = 1) const;
  // Integers below `end`.
  at::Tensor ids(std::int64_t count, std::int64_t end) const;
};

struct KernelInputs {
  Tensors inputs;
  Tensors upstream = {};  // gradients of the results
};

// One way to compute one pass. In-place kernels return the tensors they wrote, from which the next call continues.
struct KernelForm {
  std::string variant;  // "eager", "fused", "library", "matmul", "fused_fp32", "fused_lean"
  std::string pass;     // "forward", "backward", "full"
  std::function<Tensors()> call;
  std::int64_t not_counted = 0;  // bytes of results that every variant allocates
};

// The least work of a pass.
struct PassWork {
  std::int64_t bytes = 0;  // 0: bytes do not limit the pass
  double flops = 0;
};

struct KernelForms {
  std::vector<KernelForm> forms;
  // Replaces work_of() the kernel, unless empty.
  std::function<PassWork(const std::string& pass)> work = {};
  // Float64 results of a pass, in the forms' order; undefined results are not compared. Empty without a reference.
  std::function<Tensors(const std::string& pass)> exact = {};
  bool of_memory = true;  // memory-bound: timed alternately with a copy of as many bytes
  bool graphs = true;     // launches matter: also timed as CUDA graphs

  void add(const char* variant, const char* pass, std::function<Tensors()> call, std::int64_t not_counted = 0) {
    forms.push_back({variant, pass, std::move(call), not_counted});
  }
};

struct KernelCase {
  std::string_view id;
  KernelInputs (*inputs)(const Shape& shape, const TensorMaker& make);
  // Must not change the inputs.
  KernelForms (*forms)(const Shape& shape, const KernelInputs& inputs);
  // Shapes for tests, such as one row, no whole vector, more rows than blocks.
  std::span<const Shape> odd_shapes;
  // For averages of few numbers, or a single number: chance decides which of two good forms is nearer to the exact
  // result. Tests then also allow a rounding in the inputs' type.
  bool rounded_by_chance = false;
  bool takes_fp16 = true;
  bool takes_any_address = true;  // false: only multiples of 16 bytes
};

std::span<const KernelCase* const> kernel_cases();  // in the order of kernels()
const KernelCase* find_case(std::string_view id);   // null if unknown

// Largest deviation relative to the largest exact number, on the device of `exact`. Infinite if either has a NaN.
double relative_error(const at::Tensor& value, const at::Tensor& exact);
// Largest error of the results that both have; negative if nothing was compared.
double relative_error(const Tensors& values, const Tensors& exact);

PassWork work_of(const KernelInfo& kernel, const Shape& shape, const std::string& pass, at::ScalarType type);

at::Tensor leaf(const at::Tensor& tensor);  // same numbers, with requires_grad
// Outputs, then the gradients of the inputs.
Tensors with_gradients(const Tensors& outputs, const Tensors& inputs, const Tensors& upstream);
// Adds the forms "forward", "backward" (on a retained graph) and "full"; autograd differentiates `compute`.
void add_differentiated(KernelForms& to, const std::string& variant, Compute compute, const KernelInputs& in);
// Outputs and gradients in float64.
std::function<Tensors(const std::string& pass)> differentiated_exactly(Compute compute, const KernelInputs& in);

}  // namespace headroom::kernels
