// Tensors of more than 2^31 elements on a GPU, whose last rows are compared with a small tensor's.
#include <cstdint>

#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/rope/rope_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/layers/gated_ops.h"
#include "tests/kernels/layers/rope_tables.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("cross entropy processes more than 2^31 logits completely") {
  constexpr std::int64_t kRows = 16400, kVocab = 131072;  // 2.15e9 elements
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

TEST_CASE("the embedding's gradient processes a table of more than 2^31 elements completely") {
  constexpr std::int64_t kVocab = (1 << 20) + 5, kWidth = 2048;
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor dweight = at::empty({kVocab, kWidth}, options);
  const at::Tensor dy = at::ones({2, kWidth}, options);
  const at::Tensor ids = at::tensor({kVocab - 1, kVocab - 1}, at::kLong).to(at::kCUDA);
  kernels::embedding_backward(dy, ids, dweight, false);
  CHECK(dweight[kVocab - 1].eq(2).all().item<bool>());
  CHECK(dweight.narrow(0, kVocab - 5, 4).eq(0).all().item<bool>());
}

TEST_CASE("SwiGLU and GeGLU process more than 2^31 elements completely") {
  const std::int64_t n = (std::int64_t{1} << 31) + 1003;
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor gate = at::empty({n}, options).normal_(), up = at::empty({n}, options).normal_();
  for (const tests::GatedOps& ops : tests::kGatedOps) {
    const at::Tensor tail_gate = gate.narrow(0, n - 2011, 2011).clone(), tail_up = up.narrow(0, n - 2011, 2011).clone();
    CHECK(tests::same_bits(ops.forward(gate, up).narrow(0, n - 2011, 2011), ops.forward(tail_gate, tail_up)));
    const kernels::GatedGradients all = ops.backward(up, gate, up, false, false);
    const kernels::GatedGradients tail = ops.backward(tail_up, tail_gate, tail_up, false, false);
    CHECK(tests::same_bits(all.dgate.narrow(0, n - 2011, 2011), tail.dgate));
    CHECK(tests::same_bits(all.dup.narrow(0, n - 2011, 2011), tail.dup));
  }
}

TEST_CASE("the norms process more than 2^31 elements completely") {
  const std::int64_t rows = (std::int64_t{1} << 31) / 4096 + 3;
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor x = at::empty({rows, 4096}, options).normal_(), w = at::empty({4096}, options).normal_();
  const kernels::RmsNormOut all = kernels::rms_norm_forward(x, w, 1e-5);
  const at::Tensor tail = x.narrow(0, rows - 5, 5).clone();
  const kernels::RmsNormOut few = kernels::rms_norm_forward(tail, w, 1e-5);
  CHECK(tests::same_bits(all.y.narrow(0, rows - 5, 5), few.y));
  const at::Tensor dx = kernels::rms_norm_backward(x, x, w, all.rstd, {}, false).dx;
  CHECK(tests::same_bits(dx.narrow(0, rows - 5, 5), kernels::rms_norm_backward(tail, tail, w, few.rstd, {}, false).dx));
}

TEST_CASE("RoPE processes more than 2^31 elements completely") {
  constexpr std::int64_t kLength = (1 << 18) + 3, kHeads = 64, kWidth = 128;  // 2.1e9 elements
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor q = at::empty({1, kLength, kHeads, kWidth}, options).normal_();
  const at::Tensor k = at::empty({1, kLength, 1, kWidth}, options).normal_();
  const tests::RopeTables tables = tests::rope_tables(kLength, kWidth, at::kCUDA);
  const auto tail = [&](const at::Tensor& x, std::int64_t dim) { return x.narrow(dim, kLength - 5, 5).clone(); };
  const at::Tensor tail_q = tail(q, 1), tail_k = tail(k, 1);
  kernels::rope_apply_(q, k, tables.cos, tables.sin, false);
  kernels::rope_apply_(tail_q, tail_k, tail(tables.cos, 0), tail(tables.sin, 0), false);
  CHECK(tests::same_bits(tail(q, 1), tail_q));
  CHECK(tests::same_bits(tail(k, 1), tail_k));
}
