// RoPE on CPU and meta.
#include <cmath>

#include "kernels/rope/rope_ops.h"
#include "tests/kernels/layers/rope_tables.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("RoPE equals a hand-computed rotation") {
  // One token, one head of width 4: the pairs (0, 2) and (1, 3) rotate by 90° and 0°.
  const at::Tensor q = at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 1, 1, 4}), k = q.clone();
  kernels::rope_apply_(q, k, at::tensor({0.0f, 1.0f}).view({1, 2}), at::tensor({1.0f, 0.0f}).view({1, 2}), false);
  CHECK(q.flatten().equal(at::tensor({-3.0f, 2.0f, 1.0f, 4.0f})));
  CHECK(k.flatten().equal(at::tensor({-3.0f, 2.0f, 1.0f, 4.0f})));
}

TEST_CASE("RoPE refuses tensors that do not fit each other") {
  const at::Tensor q = at::zeros({2, 3, 4, 8}), k = at::zeros({2, 3, 1, 8});
  const tests::RopeTables tables = tests::rope_tables(3, 8, at::kCPU);
  const auto apply = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& cos) {
    kernels::rope_apply_(a, b, cos, tables.sin, false);
  };
  CHECK_NOTHROW(apply(q, k, tables.cos));
  CHECK_THROWS(apply(q[0], k[0], tables.cos));
  CHECK_THROWS(apply(q, at::zeros({2, 4, 1, 8}), tables.cos));
  CHECK_THROWS(apply(q, k.to(at::kBFloat16), tables.cos));
  CHECK_THROWS(apply(q.to(at::kDouble), k.to(at::kDouble), tables.cos));
  CHECK_THROWS(apply(q.transpose(2, 3), k.transpose(2, 3), tables.cos));
  CHECK_THROWS(apply(q.narrow(3, 0, 7), k.narrow(3, 0, 7), tables.cos));
  CHECK_THROWS(apply(q, k.expand({2, 3, 4, 8}), tables.cos));
  CHECK_THROWS(apply(q, k, tables.cos.to(at::kBFloat16)));
  CHECK_THROWS(apply(q, k, tests::rope_tables(2, 8, at::kCPU).cos));
  const at::Tensor leaf = at::zeros({2, 3, 4, 8}).requires_grad_();
  CHECK_THROWS(kernels::rope_(leaf, k, tables.cos, tables.sin));
}

TEST_CASE("an operator that saved the unrotated queries for backward gets an error") {
  const tests::RopeTables tables = tests::rope_tables(3, 8, at::kCPU);
  const at::Tensor x = at::ones({2, 3, 4, 8}).requires_grad_();
  const at::Tensor q = x.exp();  // exp keeps its result
  const auto [rq, rk] = kernels::rope_(q, at::zeros({2, 3, 1, 8}), tables.cos, tables.sin);
  CHECK_THROWS(rq.sum().backward());
}

TEST_CASE("RoPE only checks on meta") {
  const auto options = at::TensorOptions().device(at::kMeta);
  const at::Tensor q = at::empty({2, 3, 4, 8}, options), k = at::empty({2, 3, 1, 8}, options);
  const at::Tensor table = at::empty({3, 4}, options);
  kernels::rope_apply_(q, k, table, table, false);
  CHECK_THROWS(kernels::rope_apply_(q, k, table, at::empty({3, 5}, options), false));
}
