// What `bench` runs for one case: the same result by the eager composition, by our kernel, and by LibTorch's own where
// there is one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/experiments/bench_plan.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// One way to compute one pass. What it needs lives in the function; what it makes it returns, except that kernels which
// work in place return what they wrote into.
struct BenchSubject {
  std::string variant;  // "eager", "fused", "library", "matmul", "fused_fp32", "fused_lean"
  std::string pass;     // "forward", "backward", "full"
  std::function<std::vector<at::Tensor>()> call;
  record::Bytes not_counted = 0;  // of its memory: results that every way has to make (FLCE's gradients)
};

// What a pass must do at least, whoever does it.
struct BenchWork {
  record::Bytes bytes = 0;  // 0: it is not a matter of bytes
  double flops = 0;
};

struct BenchSubjects {
  std::vector<BenchSubject> subjects;
  std::function<BenchWork(const std::string& pass)> work;
  // The results of a pass in float64, in the order in which the subjects return them; an undefined one is not compared.
  // Empty where no reference is at hand.
  std::function<std::vector<at::Tensor>(const std::string& pass)> reference;
  bool of_memory = true;  // bound by memory: a copy of as many bytes is timed in turns with it
  bool graphs = true;     // short enough that launches matter: also timed as CUDA graphs
};

// Inputs from fixed seeds on `device`, and everything that runs on them.
BenchSubjects bench_subjects(const BenchCase& one, at::Device device);

// Parts of it, one a family.
BenchSubjects norm_subjects(const BenchCase& one, at::Device device);
BenchSubjects rope_subjects(const BenchCase& one, at::Device device);
BenchSubjects gated_subjects(const BenchCase& one, at::Device device);
BenchSubjects mlp_subjects(const BenchCase& one, at::Device device);
BenchSubjects cross_entropy_subjects(const BenchCase& one, at::Device device);
BenchSubjects linear_cross_entropy_subjects(const BenchCase& one, at::Device device);
BenchSubjects embedding_subjects(const BenchCase& one, at::Device device);
BenchSubjects adamw_subjects(const BenchCase& one, at::Device device);
BenchSubjects adamw_8bit_subjects(const BenchCase& one, at::Device device);
BenchSubjects nf4_subjects(const BenchCase& one, at::Device device);

// Shared by them.
at::ScalarType type_of(const BenchCase& one);
at::Tensor bench_random(at::IntArrayRef sizes, at::ScalarType type, at::Device device);
at::Tensor leaf(const at::Tensor& tensor);  // the same numbers, asking for a gradient
// The outputs, then the gradients of the inputs; autograd does both passes.
std::vector<at::Tensor> with_gradients(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs,
                                       const std::vector<at::Tensor>& upstream);
// What the kernel's record says of both passes together, or of one.
BenchWork work_of(const BenchCase& one, const std::string& pass);

}  // namespace headroom::experiments
