// Kernels captured in a CUDA graph and replayed.
#include <cstdint>
#include <span>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/optimizer/adamw_tensors.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

void step_one(const kernels::AdamWParameter& tensors, std::int64_t t, const kernels::AdamWControl& control = {}) {
  kernels::adamw(std::span(&tensors, 1), tests::adamw_constants(t), control);
}

}  // namespace

TEST_CASE("replays of a captured AdamW step continue to count") {
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

TEST_CASE("a captured fused linear cross entropy follows new labels") {
  const at::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
  const auto cuda = at::TensorOptions().device(at::kCUDA);
  const at::Tensor x = at::randn({96, 64}, cuda).to(at::kBFloat16),
                   weight = at::randn({320, 64}, cuda).to(at::kBFloat16);
  const at::Tensor targets = tests::make_targets(96, 320, 3, at::kCUDA);
  for (const kernels::FlceMode mode : {kernels::FlceMode::kChunked, kernels::FlceMode::kLean}) {
    const kernels::FlceOptions options{.mode = mode, .chunk = 32, .error_flag = at::zeros({1}, cuda.dtype(at::kLong))};
    kernels::flce(x, weight, targets, options);  // selects algorithms before the capture
    at::cuda::CUDAGraph graph;
    graph.capture_begin();
    const kernels::FlceOut captured = kernels::flce(x, weight, targets, options);
    graph.capture_end();
    targets.copy_(tests::make_targets(96, 320, 5, at::kCUDA));
    graph.replay();
    const kernels::FlceOut direct = kernels::flce(x, weight, targets, options);
    CHECK(tests::same_bits(captured.loss, direct.loss));
    CHECK(tests::same_bits(captured.dx, direct.dx));
    CHECK(tests::same_bits(captured.dweight, direct.dweight));
  }
}

TEST_CASE("the norms can be captured in a CUDA graph and replayed") {
  const at::Tensor x = at::randn({300, 4096}, at::kCUDA), w = at::randn({4096}, at::kCUDA);
  const at::Tensor dy = at::randn({300, 4096}, at::kCUDA);
  const auto gradients = [&] {
    const kernels::LayerNormOut out = kernels::layer_norm_forward(x, w, w, 1e-5);
    return kernels::layer_norm_backward(dy, x, w, out.mean, out.rstd, false);
  };
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStream before = c10::cuda::getCurrentCUDAStream();
  c10::cuda::device_synchronize();
  c10::cuda::setCurrentCUDAStream(stream);
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const kernels::NormGradients captured = gradients();
  graph.capture_end();
  x.normal_();
  graph.replay();
  stream.synchronize();
  c10::cuda::setCurrentCUDAStream(before);
  const kernels::NormGradients eager = gradients();
  CHECK(tests::same_bits(captured.dx, eager.dx));
  CHECK(tests::same_bits(captured.dweight, eager.dweight));
  CHECK(tests::same_bits(captured.dbias, eager.dbias));
}
