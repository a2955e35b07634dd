// Cross entropy on a GPU.
#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

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

TEST_CASE("cross entropy processes more than 2^31 logits completely") {
  constexpr std::int64_t kRows = 16400, kVocab = 131072;  // 2.15e9
  const at::Tensor logits =
      at::empty({kRows, kVocab}, at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16)).normal_();
  const at::Tensor targets = tests::make_targets(kRows, kVocab, 0, at::kCUDA);
  const at::Tensor last = logits.narrow(0, kRows - 3, 3).clone();
  const kernels::CrossEntropyOptions each{.reduction = kernels::Reduction::kNone, .in_place = true};
  const kernels::CrossEntropyOut whole = kernels::cross_entropy_forward(logits, targets, each);
  const kernels::CrossEntropyOut part =
      kernels::cross_entropy_forward(last, targets.narrow(0, kRows - 3, 3).contiguous(), each);
  CHECK(tests::same_bits(whole.loss.narrow(0, kRows - 3, 3), part.loss));
  CHECK(tests::same_bits(whole.dlogits.narrow(0, kRows - 3, 3), part.dlogits));
}
