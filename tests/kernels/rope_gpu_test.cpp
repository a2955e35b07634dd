// RoPE on a GPU.
#include "kernels/rope/rope_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/rope_tables.h"
#include "tests/support/catch.h"

using namespace headroom;

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
