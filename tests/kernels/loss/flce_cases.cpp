// The fused linear cross entropy on any device, against float64 and the plain composition.
#include <cmath>
#include <optional>

#include <torch/csrc/autograd/autograd.h>

#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::FlceMode;
using kernels::FlceOptions;

constexpr FlceMode kFlceModes[] = {FlceMode::kChunked, FlceMode::kLean, FlceMode::kReport};

struct HeadInputs {
  at::Tensor x, weight, targets;
};

HeadInputs head_inputs(std::int64_t tokens, std::int64_t hidden, std::int64_t vocab, std::int64_t skip,
                       at::ScalarType type) {
  const at::Device device = tests::tested_device();
  at::manual_seed(8);
  return {.x = tests::random_at({tokens, hidden}, 1, 0, type, device),
          .weight = tests::random_at({vocab, hidden}, 2 / std::sqrt(static_cast<double>(hidden)), 0, type, device),
          .targets = tests::make_targets(tokens, vocab, skip, device)};
}

struct HeadResults {
  at::Tensor loss, dx, dweight;
};

HeadResults plain_composition(const HeadInputs& in, double smoothing) {
  const at::Tensor x = in.x.detach().clone().requires_grad_(), weight = in.weight.detach().clone().requires_grad_();
  const at::Tensor loss =
      at::cross_entropy_loss(x.mm(weight.t()), in.targets, {}, at::Reduction::Mean, -100, smoothing);
  const auto gradients = torch::autograd::grad({loss}, {x, weight});
  return {loss.detach(), gradients[0], gradients[1]};
}

void check_head_errors(const HeadInputs& in, const FlceOptions& options) {
  CAPTURE(in.x.sizes(), in.weight.size(0), c10::toString(in.x.scalar_type()), static_cast<int>(options.mode),
          options.fp32_weight_gradient, options.chunk);
  const kernels::FlceReference exact = kernels::flce_reference(in.x, in.weight, in.targets, options);
  const HeadResults torch = plain_composition(in, options.label_smoothing);
  const kernels::FlceOut ours = kernels::flce(in.x, in.weight, in.targets, options);
  CHECK(ours.dx.scalar_type() == (options.mode == FlceMode::kLean ? at::kFloat : in.x.scalar_type()));
  CHECK(ours.dweight.scalar_type() == (options.fp32_weight_gradient ? at::kFloat : in.x.scalar_type()));
  // Logits rounded to the storage type shift the mean loss of few tokens at random.
  const double rounded = in.x.scalar_type() == at::kFloat  ? tests::kFloor
                         : in.x.scalar_type() == at::kHalf ? 0x1p-12
                                                           : 0x1p-9;
  CHECK(tests::relative_error(ours.loss, exact.loss) <= 2 * tests::relative_error(torch.loss, exact.loss) + rounded);
  CHECK(tests::relative_error(ours.dx, exact.dx) <= 2 * tests::relative_error(torch.dx, exact.dx) + tests::kFloor);
  CHECK(tests::relative_error(ours.dweight, exact.dweight) <=
        2 * tests::relative_error(torch.dweight, exact.dweight) + tests::kFloor);
}

}  // namespace

TEST_CASE("the fused linear cross entropy has at most twice the error of the plain composition") {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const HeadInputs odd = head_inputs(37, 25, 203, 4, type), even = head_inputs(64, 48, 520, 0, type);
    for (const FlceMode mode : kFlceModes) {
      for (const bool fp32 : {false, true}) {
        check_head_errors(odd, {.mode = mode, .chunk = 16, .fp32_weight_gradient = fp32});
        check_head_errors(even, {.mode = mode, .fp32_weight_gradient = fp32, .label_smoothing = 0.1});
      }
    }
    check_head_errors(head_inputs(1, 1, 2, 0, type), {});
  }
}

TEST_CASE("the fused linear cross entropy skips ignored rows") {
  const HeadInputs in = head_inputs(30, 24, 130, 3, at::kFloat);
  for (const FlceMode mode : kFlceModes) {
    const FlceOptions all{.mode = mode, .chunk = 8};
    FlceOptions counted = all;
    counted.valid_count = 20;
    const kernels::FlceReference exact = kernels::flce_reference(in.x, in.weight, in.targets);
    for (const FlceOptions& options : {all, counted}) {
      const kernels::FlceOut out = kernels::flce(in.x, in.weight, in.targets, options);
      CHECK(tests::relative_error(out.loss, exact.loss) < tests::kFloor);
      CHECK(tests::relative_error(out.dx, exact.dx) < tests::kFloor);
      CHECK(tests::relative_error(out.dweight, exact.dweight) < tests::kFloor);
      CHECK(out.dx[2].abs().sum().item<float>() == 0);  // an ignored row
    }
    for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}}) {
      FlceOptions none = all;
      none.valid_count = count;
      const kernels::FlceOut out = kernels::flce(in.x, in.weight, at::full_like(in.targets, -100), none);
      CHECK(out.loss.item<float>() == 0);
      CHECK(out.dx.abs().sum().item<float>() == 0);
      CHECK(out.dweight.abs().sum().item<float>() == 0);
    }
    const kernels::FlceOut empty =
        kernels::flce(in.x.narrow(0, 0, 0), in.weight, in.targets.narrow(0, 0, 0), {.mode = mode});
    CHECK(empty.loss.item<float>() == 0);
    CHECK(empty.dweight.abs().sum().item<float>() == 0);
  }
}

TEST_CASE("the fused linear cross entropy writes to the requested memory") {
  const HeadInputs in = head_inputs(50, 32, 144, 5, at::kBFloat16);
  for (const FlceMode mode : kFlceModes) {
    CAPTURE(static_cast<int>(mode));
    const FlceOptions plain{.mode = mode, .chunk = 16, .fp32_weight_gradient = true};
    const kernels::FlceOut first = kernels::flce(in.x, in.weight, in.targets, plain);
    const kernels::FlceOut again = kernels::flce(in.x, in.weight, in.targets, plain);
    CHECK(tests::same_bits(first.loss, again.loss));
    CHECK(tests::same_bits(first.dx, again.dx));
    CHECK(tests::same_bits(first.dweight, again.dweight));
    FlceOptions adds = plain;
    adds.dweight = at::full_like(first.dweight, 3);
    adds.accumulate = true;
    const kernels::FlceOut added = kernels::flce(in.x, in.weight, in.targets, adds);
    CHECK(added.dweight.data_ptr() == adds.dweight.data_ptr());
    CHECK(tests::relative_error(added.dweight - 3, first.dweight) < 1e-4);
    FlceOptions frozen = plain;
    frozen.weight_gradient = false;
    const kernels::FlceOut of_x = kernels::flce(in.x, in.weight, in.targets, frozen);
    CHECK_FALSE(of_x.dweight.defined());
    CHECK(tests::same_bits(of_x.loss, first.loss));
    CHECK(tests::same_bits(of_x.dx, first.dx));
    FlceOptions alone = plain;
    alone.loss_only = true;
    for (const std::int64_t count : {-1, 40}) {
      alone.valid_count = count;
      const at::Tensor x = in.x.clone();
      const kernels::FlceOut loss = kernels::flce(x, in.weight, in.targets, alone);
      CHECK_FALSE(loss.dx.defined());
      CHECK_FALSE(loss.dweight.defined());
      CHECK(tests::relative_error(loss.loss, first.loss) < (count < 0 ? 1e-7 : 1e-5));
      CHECK(tests::same_bits(x, in.x));
    }
    if (mode != FlceMode::kLean) {
      FlceOptions over = plain;
      over.dx_over_x = true;
      for (const std::int64_t count : {-1, 40}) {
        over.valid_count = count;
        const at::Tensor x = in.x.clone();
        const kernels::FlceOut out = kernels::flce(x, in.weight, in.targets, over);
        CHECK(out.dx.data_ptr() == x.data_ptr());
        CHECK(tests::relative_error(x, first.dx) < 1e-2);
        CHECK(tests::relative_error(out.dweight, first.dweight) < 1e-4);
      }
    }
  }
}

TEST_CASE("the fused linear cross entropy follows the upstream gradient") {
  const auto fp32 = at::TensorOptions().device(tests::tested_device());
  for (const FlceMode mode : kFlceModes) {
    const HeadInputs in = head_inputs(20, 16, 66, 0, at::kFloat);
    const at::Tensor x = in.x.detach().requires_grad_(), weight = in.weight.detach().requires_grad_();
    const kernels::FlceReference exact = kernels::flce_reference(in.x, in.weight, in.targets);
    const at::Tensor loss = kernels::fused_linear_cross_entropy(x, weight, in.targets, {.mode = mode});
    for (const float upstream : {1.0f, 4.0f, 0.25f}) {
      const auto keep = std::optional<bool>(true);
      const auto gradients = torch::autograd::grad({loss}, {x, weight}, {at::full({}, upstream, fp32)}, keep);
      CHECK(tests::relative_error(gradients[0], upstream * exact.dx) < tests::kFloor);
      CHECK(tests::relative_error(gradients[1], upstream * exact.dweight) < tests::kFloor);
    }
  }
  // Scales the gradients of a mean over 64 tokens by 65536; without this scale, fp16 rounds the smallest to 0.
  const HeadInputs in = head_inputs(64, 16, 4000, 0, at::kHalf);
  const at::Tensor scale = at::full({}, 65536.0f, fp32);
  const at::Tensor x = in.x.detach().requires_grad_(), weight = in.weight.detach().requires_grad_();
  const at::Tensor loss = kernels::fused_linear_cross_entropy(x, weight, in.targets, {.grad_scale = scale});
  const auto gradients = torch::autograd::grad({loss}, {x, weight}, {scale});
  const kernels::FlceReference exact = kernels::flce_reference(in.x, in.weight, in.targets, {.grad_scale = scale});
  CHECK(tests::relative_error(gradients[0], exact.dx) < 2e-3);
  CHECK(tests::relative_error(gradients[1], exact.dweight) < 2e-3);
  const at::Tensor unscaled = kernels::flce(in.x, in.weight, in.targets).dweight;
  CHECK(unscaled.eq(0).sum().item<std::int64_t>() > gradients[1].eq(0).sum().item<std::int64_t>());
}
