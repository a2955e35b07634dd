// A kernel beside other ways to compute the same: what the benchmark times and tests compare. For the engine and tests;
// each kernel's <name>_case.cpp declares one.
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

// Makes inputs of one type on one device. All start `offset` elements into their memory: 1 keeps kernels from wide
// loads.
struct TensorMaker {
  at::ScalarType type = at::kFloat;
  at::Device device = at::kCPU;
  std::int64_t offset = 0;

  // Normal numbers of standard deviation `scale`.
  at::Tensor random(at::IntArrayRef sizes, double scale = 1) const;
  // Whole numbers below `end`.
  at::Tensor ids(std::int64_t count, std::int64_t end) const;
};

struct KernelInputs {
  Tensors inputs;
  Tensors upstream = {};  // the gradients of the results, where there is a backward pass
};

// One way to compute one pass. What it needs lives in the function; what it makes it returns, except that kernels which
// work in place return what they wrote into, and go on from there when called again.
struct KernelForm {
  std::string variant;  // "eager", "fused", "library", "matmul", "fused_fp32", "fused_lean"
  std::string pass;     // "forward", "backward", "full"
  std::function<Tensors()> call;
  std::int64_t not_counted = 0;  // bytes of its memory: results that every way has to make (FLCE's gradients)
};

// What a pass must do at least, whoever does it.
struct PassWork {
  std::int64_t bytes = 0;  // 0: it is not a matter of bytes
  double flops = 0;
};

struct KernelForms {
  std::vector<KernelForm> forms;
  // Empty: as the kernel's record says.
  std::function<PassWork(const std::string& pass)> work = {};
  // The results of a pass in float64, in the order in which the forms return them; an undefined one is not compared.
  // Empty where no reference is at hand.
  std::function<Tensors(const std::string& pass)> exact = {};
  bool of_memory = true;  // bound by memory: a copy of as many bytes is timed in turns with it
  bool graphs = true;     // short enough that launches matter: also timed as CUDA graphs

  void add(const char* variant, const char* pass, std::function<Tensors()> call, std::int64_t not_counted = 0) {
    forms.push_back({variant, pass, std::move(call), not_counted});
  }
};

struct KernelCase {
  std::string_view id;
  KernelInputs (*inputs)(const Shape& shape, const TensorMaker& make);
  // On these inputs, which are read only.
  KernelForms (*forms)(const Shape& shape, const KernelInputs& inputs);
  // For tests: one row, one column, no whole vector, more rows than blocks, more than registers hold.
  std::span<const Shape> odd_shapes;
  // Where a few numbers are averaged, or one number is rounded, chance decides which of two good forms is nearer: what a
  // test allows on top is a rounding of the inputs' type, and not only of fp32.
  bool rounded_by_chance = false;
  bool takes_fp16 = true;
  bool takes_any_address = true;  // false: only multiples of 16 bytes
};

std::span<const KernelCase* const> kernel_cases();  // in the order of kernels()
const KernelCase* find_case(std::string_view id);   // null: unknown

// The largest deviation as a part of the largest exact number, on the device of `exact`; infinite for a NaN that is in
// one of them alone; 0 for no elements.
double relative_error(const at::Tensor& value, const at::Tensor& exact);
// The worst over all results that both have; negative: nothing was compared.
double relative_error(const Tensors& values, const Tensors& exact);

// Of both passes together, or of one, as the kernel's record says.
PassWork work_of(const KernelInfo& kernel, const Shape& shape, const std::string& pass, at::ScalarType type);

// What the cases share.

at::Tensor leaf(const at::Tensor& tensor);  // the same numbers, asking for a gradient
// The outputs, then the gradients of the inputs; autograd does both passes.
Tensors with_gradients(const Tensors& outputs, const Tensors& inputs, const Tensors& upstream);
// Forward, backward on a graph that is kept, and both, of a composition that autograd differentiates.
void add_differentiated(KernelForms& to, const std::string& variant, Compute compute, const KernelInputs& in);
// Outputs and gradients of a composition in float64.
std::function<Tensors(const std::string& pass)> differentiated_exactly(Compute compute, const KernelInputs& in);

}  // namespace headroom::kernels
