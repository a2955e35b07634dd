// Cross entropy on any device, against float64 and PyTorch.
#include <cmath>
#include <limits>
#include <optional>

#include <torch/csrc/autograd/autograd.h>

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::CrossEntropyOptions;
using kernels::Reduction;

std::int64_t torch_reduction(Reduction reduction) {
  return reduction == Reduction::kMean  ? at::Reduction::Mean
         : reduction == Reduction::kSum ? at::Reduction::Sum
                                        : at::Reduction::None;
}

struct LossResults {
  at::Tensor loss, dlogits;
};

LossResults eager_loss(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options,
                       const at::Tensor& upstream) {
  const at::Tensor z = logits.detach().clone().requires_grad_();
  const at::Tensor loss = at::cross_entropy_loss(z, targets, {}, torch_reduction(options.reduction),
                                                 options.ignore_index, options.label_smoothing);
  return {loss.detach(), torch::autograd::grad({loss}, {z}, {upstream.to(loss.scalar_type())})[0]};
}

LossResults our_loss(const at::Tensor& logits, const at::Tensor& targets, const CrossEntropyOptions& options,
                     const at::Tensor& upstream) {
  const at::Tensor z = logits.detach().requires_grad_();
  const at::Tensor loss = kernels::cross_entropy(z, targets, options);
  return {loss.detach(), torch::autograd::grad({loss}, {z}, {upstream})[0]};
}

struct LogitsShape {
  std::int64_t rows, vocab, offset;
};

void check_loss_errors(const LogitsShape& shape, at::ScalarType type, const CrossEntropyOptions& options) {
  const at::Device device = tests::tested_device();
  CAPTURE(shape.rows, shape.vocab, shape.offset, c10::toString(type), static_cast<int>(options.reduction),
          options.label_smoothing);
  at::manual_seed(5);
  const at::Tensor logits = tests::random_at({shape.rows, shape.vocab}, 3, shape.offset, type, device);
  const at::Tensor targets = tests::make_targets(shape.rows, shape.vocab, 4, device);
  const bool each = options.reduction == Reduction::kNone;
  // Forward computes the gradient, so a 16-bit gradient is rounded again unless the upstream gradient is a power of
  // two.
  const at::IntArrayRef upstream_shape = each ? at::IntArrayRef(shape.rows) : at::IntArrayRef();
  at::Tensor upstream =
      type == at::kFloat ? at::randn(upstream_shape) : at::pow(2.0, at::randint(-3, 4, upstream_shape)).to(at::kFloat);
  upstream = upstream.to(device);
  const LossResults exact = eager_loss(logits.to(at::kDouble), targets, options, upstream.to(at::kDouble));
  const LossResults torch = eager_loss(logits, targets, options, upstream);
  const kernels::CrossEntropyReference reference = kernels::cross_entropy_reference(logits, targets, options);
  const LossResults kernel = our_loss(logits, targets, options, upstream);
  CHECK(tests::relative_error(reference.loss, exact.loss) < 1e-12);
  const at::Tensor upstream_rows = each ? upstream.to(at::kDouble).unsqueeze(1) : upstream.to(at::kDouble);
  CHECK(tests::relative_error(reference.dlogits * upstream_rows, exact.dlogits) < 1e-12);
  CHECK(kernel.loss.scalar_type() == at::kFloat);
  CHECK(tests::relative_error(kernel.loss, exact.loss) <=
        2 * tests::relative_error(torch.loss, exact.loss) + tests::kFloor);
  CHECK(tests::relative_error(kernel.dlogits, exact.dlogits) <=
        2 * tests::relative_error(torch.dlogits, exact.dlogits) + tests::kFloor);
}

}  // namespace

TEST_CASE("cross entropy has at most twice the error of PyTorch's operator") {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const LogitsShape& shape : {LogitsShape{7, 1001, 1}, LogitsShape{2, 128257, 3}})
      check_loss_errors(shape, type, {});
    for (const Reduction reduction : {Reduction::kNone, Reduction::kSum, Reduction::kMean}) {
      for (const double smoothing : {0.0, 0.1}) {
        check_loss_errors({13, 515, 0}, type, {.reduction = reduction, .label_smoothing = smoothing});
      }
    }
    check_loss_errors({3, 40001, 0}, type, {.label_smoothing = 0.2});
    // Too wide for any GPU's shared memory, so each row is read twice.
    check_loss_errors({2, 1'000'003, 1}, type, {.label_smoothing = 0.2});
  }
}

TEST_CASE("cross entropy without valid rows is 0") {
  const at::Device device = tests::tested_device();
  const auto fp32 = at::TensorOptions().device(device);
  const at::Tensor logits = at::randn({4, 33}).to(device);
  const at::Tensor ignored = at::full({4}, -100, fp32.dtype(at::kLong));
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{0}}) {
    const kernels::CrossEntropyOut none = kernels::cross_entropy_forward(logits, ignored, {.valid_count = count});
    CHECK(none.loss.item<float>() == 0);
    CHECK(none.dlogits.abs().sum().item<float>() == 0);
  }
  at::Tensor one = ignored.clone();
  one[2] = 5;
  const kernels::CrossEntropyOut single = kernels::cross_entropy_forward(logits, one);
  CHECK(tests::relative_error(single.loss, kernels::cross_entropy_reference(logits, one).loss) < tests::kFloor);
  CHECK(single.dlogits[0].abs().sum().item<float>() == 0);
  CHECK(std::abs(single.dlogits[2].sum().item<float>()) < 1e-6);  // softmax and one-hot both sum to 1
  const kernels::CrossEntropyOut empty =
      kernels::cross_entropy_forward(at::empty({0, 33}, fp32), at::empty({0}, fp32.dtype(at::kLong)));
  CHECK(empty.loss.item<float>() == 0);
  const kernels::CrossEntropyOut certain =
      kernels::cross_entropy_forward(at::randn({4, 1}).to(device), at::zeros({4}, fp32.dtype(at::kLong)));
  CHECK(certain.loss.item<float>() == 0);
  CHECK(certain.dlogits.abs().max().item<float>() == 0);
  at::Tensor with_nan = logits.clone();
  with_nan[0].fill_(std::numeric_limits<float>::quiet_NaN());
  CHECK(tests::same_bits(kernels::cross_entropy_forward(with_nan, one).dlogits, single.dlogits));
}

TEST_CASE("cross entropy follows the definition for infinities and NaN") {
  const at::Device device = tests::tested_device();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const std::int64_t vocab : {50, 20000}) {
      CAPTURE(c10::toString(type), vocab);
      at::manual_seed(6);
      at::Tensor z = at::randn({8, vocab});
      z[0] *= 80;
      z[1].fill_(80);
      z[2].narrow(0, 3, vocab - 3).fill_(-kInfinity);
      z[3].fill_(-kInfinity);
      z[4][1] = kInfinity;
      z[5][vocab - 1] = std::numeric_limits<float>::quiet_NaN();
      z[6].fill_(-80);
      z[7][0] = -kInfinity;  // the target's own logit
      const at::Tensor logits = z.to(type).to(device), targets = at::zeros({8}, at::kLong).to(device);
      const kernels::CrossEntropyOut out =
          kernels::cross_entropy_forward(logits, targets, {.reduction = Reduction::kNone});
      const kernels::CrossEntropyReference exact =
          kernels::cross_entropy_reference(logits, targets, {.reduction = Reduction::kNone});
      CHECK(tests::same_kind(out.loss, exact.loss, 1e-5));
      CHECK(tests::same_kind(out.dlogits, exact.dlogits, type == at::kFloat ? 1e-5 : 4e-3));
    }
  }
}

TEST_CASE("cross entropy gives the same bits in place, out of place and repeatedly") {
  const at::Device device = tests::tested_device();
  for (const std::int64_t vocab : {257, 20001}) {
    at::manual_seed(7);
    const at::Tensor logits = tests::random_at({12, vocab}, 2, 0, at::kBFloat16, device);
    const at::Tensor targets = tests::make_targets(12, vocab, 4, device);
    const kernels::CrossEntropyOut first = kernels::cross_entropy_forward(logits, targets);
    const kernels::CrossEntropyOut second = kernels::cross_entropy_forward(logits, targets, {.valid_count = 9});
    const at::Tensor copy = logits.clone();
    const kernels::CrossEntropyOut over = kernels::cross_entropy_forward(copy, targets, {.in_place = true});
    CHECK(tests::same_bits(first.dlogits, second.dlogits));
    CHECK(tests::same_bits(first.loss, second.loss));
    CHECK(over.dlogits.data_ptr() == copy.data_ptr());
    CHECK(tests::same_bits(first.dlogits, over.dlogits));
    CHECK(tests::same_bits(kernels::cross_entropy_forward_only(logits, targets).loss, first.loss));
  }
  const at::Tensor logits = at::randn({6, 50}).to(device).requires_grad_(),
                   targets = tests::make_targets(6, 50, 3, device);
  const at::Tensor loss = kernels::cross_entropy(logits, targets);
  const auto gradient = [&](float upstream) {
    const auto keep = std::optional<bool>(true);
    return torch::autograd::grad({loss}, {logits}, {at::full({}, upstream).to(device)}, keep)[0].clone();
  };
  const at::Tensor exact = kernels::cross_entropy_reference(logits, targets).dlogits;
  CHECK(tests::relative_error(gradient(4), 4 * exact) < tests::kFloor);
  CHECK(tests::relative_error(gradient(0.5), 0.5 * exact) < tests::kFloor);
}
