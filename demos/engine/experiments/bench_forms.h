// Builds the forms of a bench case, on inputs from fixed seeds.
#pragma once

#include <ATen/ATen.h>

#include "demos/experiments/bench_plan.h"
#include "kernels/kernel_case.h"

namespace headroom::experiments {

kernels::KernelForms bench_forms(const BenchCase& one, at::Device device);

}  // namespace headroom::experiments
