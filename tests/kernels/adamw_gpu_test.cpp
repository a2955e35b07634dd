// AdamW on a GPU.
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "tests/kernels/adamw_test_support.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

void step_one(const kernels::AdamWParameter& tensors, std::int64_t t, const kernels::AdamWControl& control = {}) {
  kernels::adamw(std::span(&tensors, 1), tests::adamw_constants(t), control);
}

}  // namespace

TEST_CASE("AdamW on the GPU has at most twice the error of PyTorch's operators") {
  const tests::AdamWTypes types = GENERATE(from_range(std::begin(tests::kAdamWTypes), std::end(tests::kAdamWTypes)));
  const std::int64_t n = GENERATE(1, 7, 8, 255, 4096, 100'003, 4'194'304);
  const std::int64_t offset = GENERATE(0, 1, 8);  // 1: no 16-byte loads
  CAPTURE(n, offset, types.param, types.gradient, types.moment);
  const tests::AdamWErrors e = tests::adamw_errors(n, offset, types, at::kCUDA);
  CHECK(e.kernel_param <= 2 * e.torch_param + tests::adamw_floor(types));
  CHECK(e.kernel_first <= 2 * e.torch_first + tests::kFloor);
  CHECK(e.kernel_second <= 2 * e.torch_second + tests::kFloor);
}

TEST_CASE("AdamW on the GPU gives the same bits for a model's tensors together as for each alone") {
  CHECK(tests::adamw_together_as_alone(at::kCUDA));
}

TEST_CASE("CPU and GPU give the same bits for all controls and roundings") {
  const bool copy = GENERATE(false, true);
  const auto all = copy ? std::span<const tests::AdamWTypes>(tests::kAdamWCopyTypes) : tests::kAdamWTypes;
  const std::int64_t n = GENERATE(1, 7, 4099, 300'001);
  const std::int64_t offset = GENERATE(0, 1);
  const std::int64_t t = GENERATE(1, 1234);
  for (const tests::AdamWTypes& types : all) {
    CAPTURE(copy, n, offset, t, types.param, types.gradient, types.moment);
    const kernels::AdamWParameter cpu =
        copy ? tests::adamw_copy_tensors(n, offset, types, at::kCPU) : tests::adamw_tensors(n, offset, types, at::kCPU);
    const kernels::AdamWParameter gpu = copy ? tests::adamw_copy_tensors(n, offset, types, at::kCUDA)
                                             : tests::adamw_tensors(n, offset, types, at::kCUDA);
    kernels::AdamWControl on_cpu = tests::adamw_control(3, false, t, at::kCPU);
    kernels::AdamWControl on_gpu = tests::adamw_control(3, false, t, at::kCUDA);
    on_cpu.stochastic_rounding = on_gpu.stochastic_rounding = types.param != at::kHalf || copy;
    on_cpu.seed = on_gpu.seed = 17;
    step_one(cpu, 1, on_cpu);
    step_one(gpu, 1, on_gpu);
    CHECK(tests::same_bits(cpu, gpu));
  }
}

TEST_CASE("the GPU changes nothing after an overflow") {
  const tests::AdamWTypes types = tests::kAdamWCopyTypes[2];
  const kernels::AdamWParameter tensors = tests::adamw_copy_tensors(10'000, 0, types, at::kCUDA);
  const kernels::AdamWParameter before = tests::on_device(tensors, at::kCUDA);
  step_one(tensors, 1, tests::adamw_control(0, true, 1, at::kCUDA));
  CHECK(tests::same_bits(tensors, before));
}

TEST_CASE("replays of a captured step continue to count") {
  const tests::AdamWTypes types = tests::kAdamWTypes[2];
  const kernels::AdamWParameter captured = tests::adamw_tensors(10'000, 0, types, at::kCUDA);
  const kernels::AdamWParameter plain = tests::adamw_tensors(10'000, 0, types, at::kCUDA);
  kernels::AdamWControl control = tests::adamw_control(0, false, 0, at::kCUDA);
  control.stochastic_rounding = true;
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(stream);
    graph.capture_begin();
    kernels::advance_step_count_(control.step_count, control.overflow);
    step_one(captured, 1, control);
    graph.capture_end();
    for (int i = 0; i < 5; ++i) graph.replay();
    stream.synchronize();
  }
  for (std::int64_t t = 1; t <= 5; ++t) step_one(plain, t, {.stochastic_rounding = true});
  CHECK(control.step_count.item<std::int64_t>() == 5);
  CHECK(tests::same_bits(captured, plain));
}
