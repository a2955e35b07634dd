// Cross entropy on CPU and meta.
#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("cross entropy equals a hand-computed one") {
  // Two classes with logits 0 and ln 3: p = 1/4, 3/4. Loss of class 0: ln 4; gradient −3/4, 3/4.
  const at::Tensor logits = at::tensor({0.0f, std::log(3.0f)}).view({1, 2});
  const kernels::CrossEntropyOut out = kernels::cross_entropy_forward(logits, at::zeros({1}, at::kLong));
  CHECK(out.loss.item<float>() == Approx(std::log(4.0)));
  CHECK(out.dlogits[0][0].item<float>() == Approx(-0.75));
  CHECK(out.dlogits[0][1].item<float>() == Approx(0.75));
}

TEST_CASE("a target outside the vocabulary is named") {
  const at::Tensor logits = at::randn({3, 10});
  at::Tensor targets = at::zeros({3}, at::kLong);
  targets[1] = 10;
  CHECK_THROWS_WITH(kernels::cross_entropy_forward(logits, targets),
                    ContainsSubstring("target 10 in row 1 is outside the vocabulary of 10"));
}

TEST_CASE("cross entropy refuses tensors that do not fit each other") {
  const at::Tensor logits = at::randn({3, 10}), targets = at::zeros({3}, at::kLong);
  CHECK_THROWS(kernels::cross_entropy_forward(logits, at::zeros({4}, at::kLong)));
  CHECK_THROWS(kernels::cross_entropy_forward(logits, at::zeros({3}, at::kInt)));
  CHECK_THROWS(kernels::cross_entropy_forward(logits.to(at::kDouble), targets));
  CHECK_THROWS(kernels::cross_entropy_forward(at::randn({10, 3}).t(), targets));
  CHECK_THROWS(kernels::cross_entropy_forward(at::randn({30}), targets));
  CHECK_THROWS(kernels::cross_entropy_forward(at::empty({3, 0}), targets));
  CHECK_THROWS(kernels::cross_entropy_forward(logits, targets, {.label_smoothing = 1.5}));
  CHECK_THROWS(kernels::cross_entropy_forward(logits, targets, {.valid_count = 4}));
}

TEST_CASE("cross entropy returns the right shapes on meta") {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor logits = at::empty({6, 100}, meta.dtype(at::kBFloat16)),
                   targets = at::empty({6}, meta.dtype(at::kLong));
  const kernels::CrossEntropyOut out = kernels::cross_entropy_forward(logits, targets);
  CHECK(out.loss.sizes() == at::IntArrayRef{});
  CHECK(out.dlogits.sizes() == logits.sizes());
  CHECK(out.dlogits.scalar_type() == at::kBFloat16);
  const auto each = kernels::cross_entropy_forward(logits, targets, {.reduction = kernels::Reduction::kNone});
  CHECK(each.loss.sizes() == at::IntArrayRef{6});
}
