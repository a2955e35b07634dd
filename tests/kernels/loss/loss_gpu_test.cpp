// The losses on a GPU: wrong labels, and a real vocabulary.
#include <cmath>
#include <cstdio>
#include <string>

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;
using kernels::FlceMode;

TEST_CASE("a target outside the vocabulary on a GPU raises the flag that names it, and its loss is NaN") {
  const at::Tensor logits = at::randn({5, 10}).to(at::kCUDA);
  at::Tensor targets = at::zeros({5}, at::kLong);
  targets[3] = -7;
  const at::Tensor on_gpu = targets.to(at::kCUDA);
  const kernels::CrossEntropyOut out = kernels::cross_entropy_forward(logits, on_gpu);
  CHECK(kernels::error_text(out.error_flag, on_gpu, 10) == "target -7 in row 3 is outside the vocabulary of 10");
  CHECK(std::isnan(out.loss.item<float>()));
  CHECK(out.dlogits[3].abs().sum().item<float>() == 0);
  const kernels::CrossEntropyOut fine = kernels::cross_entropy_forward(logits, at::zeros_like(on_gpu));
  CHECK(kernels::error_text(fine.error_flag, on_gpu, 10).empty());
}

TEST_CASE("wrong labels of the fused linear cross entropy on a GPU raise the flag") {
  const auto cuda = at::TensorOptions().device(at::kCUDA);
  const at::Tensor x = at::randn({5, 16}, cuda), weight = at::randn({40, 16}, cuda);
  at::Tensor targets = at::zeros({5}, cuda.dtype(at::kLong));
  targets[4] = 40;
  const kernels::FlceOut outside = kernels::flce(x, weight, targets);
  CHECK(kernels::error_text(outside.error_flag, targets, 40) == "target 40 in row 4 is outside the vocabulary of 40");
  CHECK(std::isnan(outside.loss.item<float>()));
  const at::Tensor fine = at::zeros_like(targets);
  const kernels::FlceOut miscounted = kernels::flce(x, weight, fine, {.valid_count = 3});
  CHECK(kernels::error_text(miscounted.error_flag, fine, 40).find("differs from the count that was passed") !=
        std::string::npos);
}

TEST_CASE("the gradients of a real vocabulary in bf16 and fp32 are close to float64") {
  at::manual_seed(9);
  const auto cuda = at::TensorOptions().device(at::kCUDA);
  const at::Tensor x = at::randn({2048, 256}, cuda).to(at::kBFloat16);
  const at::Tensor weight = (at::randn({32000, 256}, cuda) * 0.05).to(at::kBFloat16);
  const at::Tensor targets = tests::make_targets(2048, 32000, 0, at::kCUDA);
  const kernels::FlceReference exact = kernels::flce_reference(x, weight, targets);
  const at::Tensor z = x.mm(weight.t());
  const at::Tensor p = at::softmax(z, -1), hot = at::zeros_like(p).scatter_(1, targets.unsqueeze(1), 1);
  const double torch = tests::relative_error((((p - hot) / 2048).t()).mm(x), exact.dweight);
  for (const FlceMode mode : {FlceMode::kChunked, FlceMode::kLean, FlceMode::kReport}) {
    for (const bool fp32 : {false, true}) {
      const kernels::FlceOut out =
          kernels::flce(x, weight, targets, {.mode = mode, .chunk = 512, .fp32_weight_gradient = fp32});
      const double error = tests::relative_error(out.dweight, exact.dweight);
      std::printf("dW error, mode %d, fp32 %d: %.3g (plain bf16 composition %.3g)\n", static_cast<int>(mode), fp32,
                  error, torch);
      CHECK(error <= (fp32 ? 1 : 2) * torch);
      CHECK(tests::relative_error(out.dx, exact.dx) < 1e-2);
    }
  }
}
