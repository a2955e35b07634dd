// The fused linear cross entropy on CPU and meta.
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "tests/support/catch.h"

using namespace headroom;
using kernels::FlceMode;

TEST_CASE("chunks and slices equal hand-computed ones") {
  // Llama 3 8B's head: ⌈128256 / 4096⌉ = 32, so chunks of 256 tokens for 8192 tokens, and of 32 for 1024.
  CHECK(kernels::flce_default_chunk(FlceMode::kReport, 8192, 4096, 128256, 2, false) == 256);
  CHECK(kernels::flce_default_chunk(FlceMode::kReport, 1024, 4096, 128256, 2, false) == 32);
  CHECK(kernels::flce_default_chunk(FlceMode::kChunked, 8192, 4096, 128256, 2, false) == 1024);
  CHECK(kernels::flce_default_chunk(FlceMode::kChunked, 8192, 4096, 128256, 2, true) == 2048);
  CHECK(kernels::flce_default_chunk(FlceMode::kChunked, 100, 4096, 128256, 2, true) == 100);
  // 76 MiB of bf16 for 8192 tokens: 4864 columns per slice.
  CHECK(kernels::flce_default_chunk(FlceMode::kLean, 8192, 4096, 128256, 2, false) == 4864);
  // 1024 tokens of 128256 bf16 logits: 250.5 MiB. 5000 tokens take five chunks of 1000.
  kernels::FlceProblem problem{.tokens = 8192, .hidden = 2048, .vocab = 128256, .chunk = 1024};
  CHECK(kernels::flce_logits_bytes(problem) == 262'668'288);
  problem.tokens = 5000;
  CHECK(kernels::flce_step(problem) == 1000);
  problem.valid_count = 2500;
  CHECK(kernels::flce_rows(problem) == 2500);
  CHECK(kernels::flce_step(problem) == 840);  // three chunks of at most 1024 tokens, in multiples of 8
}

TEST_CASE("the fused linear cross entropy stays within its memory") {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  for (const auto& [tokens, hidden] : {std::pair{4096, 2048}, std::pair{16384, 2048}, std::pair{8192, 4096}}) {
    const auto beside = [&](FlceMode mode, bool fp32, std::int64_t valid) {
      const kernels::FlceProblem p{.mode = mode,
                                   .fp32_weight_gradient = fp32,
                                   .tokens = tokens,
                                   .hidden = hidden,
                                   .vocab = 128256,
                                   .valid_count = valid};
      return kernels::flce_logits_bytes(p) + kernels::flce_scratch_bytes(p);
    };
    CHECK(beside(FlceMode::kChunked, false, -1) <= 260 * kMiB);
    CHECK(beside(FlceMode::kChunked, false, tokens - 1) <= 260 * kMiB);
    CHECK(beside(FlceMode::kChunked, true, -1) <= 512 * kMiB);
    CHECK(beside(FlceMode::kLean, false, -1) <= 80 * kMiB);
  }
}

TEST_CASE("the fused linear cross entropy names a wrong label") {
  const at::Tensor x = at::randn({3, 4}), weight = at::randn({10, 4});
  at::Tensor targets = at::zeros({3}, at::kLong);
  targets[1] = 12;
  CHECK_THROWS_WITH(kernels::flce(x, weight, targets),
                    ContainsSubstring("target 12 in row 1 is outside the vocabulary of 10"));
  CHECK_THROWS_WITH(kernels::flce(x, weight, at::zeros({3}, at::kLong), {.valid_count = 2}),
                    ContainsSubstring("3 valid rows"));
}

TEST_CASE("the fused linear cross entropy refuses tensors that do not fit each other") {
  const at::Tensor x = at::randn({3, 4}), weight = at::randn({10, 4}), targets = at::zeros({3}, at::kLong);
  CHECK_THROWS(kernels::flce(x, at::randn({10, 5}), targets));
  CHECK_THROWS(kernels::flce(x, weight.to(at::kBFloat16), targets));
  CHECK_THROWS(kernels::flce(x, at::randn({4, 10}).t(), targets));
  CHECK_THROWS(kernels::flce(x, weight, at::zeros({2}, at::kLong)));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.reduction = kernels::Reduction::kNone}));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.accumulate = true}));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.chunk = -1}));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.mode = FlceMode::kLean, .dx_over_x = true}));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.dweight = at::zeros({10, 5})}));
  CHECK_THROWS(kernels::flce(x, weight, targets, {.dweight = at::zeros({10, 4}), .weight_gradient = false}));
}

TEST_CASE("an accumulated gradient cannot follow another upstream gradient") {
  const at::Tensor x = at::randn({3, 4}).requires_grad_(), weight = at::randn({10, 4}).requires_grad_();
  const at::Tensor loss = kernels::fused_linear_cross_entropy(x, weight, at::zeros({3}, at::kLong),
                                                              {.dweight = at::zeros({10, 4}), .accumulate = true});
  CHECK_THROWS_WITH((loss * 2).backward(), ContainsSubstring("upstream gradient is 2"));
}

TEST_CASE("the fused linear cross entropy returns its input's gradient for a frozen weight") {
  const at::Tensor x = at::randn({3, 4}).requires_grad_(), weight = at::randn({10, 4});
  const at::Tensor targets = at::zeros({3}, at::kLong);
  (kernels::fused_linear_cross_entropy(x, weight, targets, {.weight_gradient = false}) * 3).backward();
  CHECK(at::allclose(x.grad(), kernels::flce(x, weight, targets).dx * 3));
  CHECK_FALSE(weight.grad().defined());
}

TEST_CASE("the fused linear cross entropy returns the right shapes and types on meta") {
  const auto meta = at::TensorOptions().device(at::kMeta).dtype(at::kBFloat16);
  const at::Tensor x = at::empty({20, 8}, meta), weight = at::empty({50, 8}, meta);
  const at::Tensor targets = at::empty({20}, meta.dtype(at::kLong));
  const kernels::FlceOut out =
      kernels::flce(x, weight, targets, {.mode = FlceMode::kLean, .fp32_weight_gradient = true});
  CHECK(out.dx.sizes() == x.sizes());
  CHECK(out.dx.scalar_type() == at::kFloat);
  CHECK(out.dweight.sizes() == weight.sizes());
  CHECK(out.dweight.scalar_type() == at::kFloat);
  const at::Tensor leaf = x.requires_grad_();
  kernels::fused_linear_cross_entropy(leaf, weight, targets).backward();
  CHECK(leaf.grad().sizes() == x.sizes());
}
