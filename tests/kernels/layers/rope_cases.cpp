// RoPE on any device.
#include <torch/csrc/autograd/autograd.h>

#include "kernels/rope/rope_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/layers/rope_tables.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

struct RopeShape {
  std::int64_t batch, length, q_heads, k_heads, head_dim;
};

constexpr RopeShape kRopeShapes[] = {{1, 1, 1, 1, 2},  {2, 3, 1, 1, 6},    {3, 17, 5, 2, 64},   {2, 9, 32, 8, 128},
                                     {1, 7, 3, 1, 40}, {2, 33, 24, 8, 16}, {1, 5, 70, 10, 256}, {0, 4, 2, 1, 8}};

}  // namespace

TEST_CASE("RoPE and its inverse restore the input") {
  const at::Device device = tests::tested_device();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const RopeShape& s : kRopeShapes) {
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(c10::toString(type), s.batch, s.length, s.q_heads, s.k_heads, s.head_dim, offset);
        at::manual_seed(5);
        const tests::RopeTables tables = tests::rope_tables(s.length, s.head_dim, device);
        const at::Tensor q = tests::random_at({s.batch, s.length, s.q_heads, s.head_dim}, 1, offset, type, device);
        const at::Tensor k = tests::random_at({s.batch, s.length, s.k_heads, s.head_dim}, 1, offset, type, device);
        const at::Tensor original_q = q.clone(), original_k = k.clone();
        kernels::rope_apply_(q, k, tables.cos, tables.sin, false);
        kernels::rope_apply_(q, k, tables.cos, tables.sin, true);
        const double two_roundings = type == at::kFloat ? 1e-6 : type == at::kHalf ? 2e-3 : 1.6e-2;
        CHECK(tests::relative_error(q, original_q) <= two_roundings);
        CHECK(tests::relative_error(k, original_k) <= two_roundings);
      }
    }
  }
}

TEST_CASE("RoPE rotates views of a packed projection in place") {
  const at::Device device = tests::tested_device();
  constexpr std::int64_t kBatch = 2, kLength = 11, kQueries = 6, kKeys = 2, kWidth = 32;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    at::manual_seed(7);
    const tests::RopeTables tables = tests::rope_tables(kLength, kWidth, device);
    const at::Tensor packed = tests::random_at({kBatch, kLength, kQueries + 2 * kKeys, kWidth}, 1, 0, type, device);
    const at::Tensor q = packed.narrow(2, 0, kQueries), k = packed.narrow(2, kQueries, kKeys);
    const at::Tensor v = packed.narrow(2, kQueries + kKeys, kKeys);
    const at::Tensor plain_q = q.contiguous().clone(), plain_k = k.contiguous().clone(), old_v = v.clone();
    kernels::rope_apply_(q, k, tables.cos, tables.sin, false);
    kernels::rope_apply_(plain_q, plain_k, tables.cos, tables.sin, false);
    CAPTURE(c10::toString(type));
    CHECK(tests::same_bits(q, plain_q));
    CHECK(tests::same_bits(k, plain_k));
    CHECK(tests::same_bits(v, old_v));
    // In memory heads come before tokens, as in the gradients of attention.
    const at::Tensor by_head = packed.narrow(2, 0, kQueries).transpose(1, 2).contiguous().transpose(1, 2);
    const at::Tensor before = by_head.clone();
    kernels::rope_apply_(by_head, k, tables.cos, tables.sin, false);
    const at::Tensor exact = kernels::rope_reference(before, tables.cos, tables.sin);
    CHECK(tests::relative_error(by_head, exact) < (type == at::kFloat ? 1e-6 : 8e-3));
  }
}

TEST_CASE("RoPE has a rotation's gradient") {
  const at::Device device = tests::tested_device();
  at::manual_seed(9);
  const tests::RopeTables tables = tests::rope_tables(13, 16, device);
  const auto random = [&](std::int64_t heads) {
    return tests::random_at({2, 13, heads, 16}, 1, 0, at::kFloat, device);
  };
  const at::Tensor q0 = random(4), k0 = random(2), wq = random(4), wk = random(2);
  const auto reference = [&](bool shared) {
    const at::Tensor q = q0.detach().requires_grad_(), k = k0.detach().requires_grad_();
    const at::Tensor rq = kernels::rope_reference(q * 1.0, tables.cos, tables.sin);
    const at::Tensor rk = kernels::rope_reference(k * 1.0, tables.cos, tables.sin);
    at::Tensor loss = (rq * wq).sum() + (rk * wk).sum();
    if (shared) loss = loss + (rq.sin() * wq).sum();
    return torch::autograd::grad({loss}, {q, k});
  };
  for (const bool shared : {false, true}) {  // shared: q is used twice, and autograd adds the gradients
    CAPTURE(shared);
    const at::Tensor q = q0.detach().requires_grad_(), k = k0.detach().requires_grad_();
    // The results are views, like a linear layer's heads.
    const at::Tensor flat = (q * 1.0).view({2, 13, 64});
    const auto [rq, rk] = kernels::rope_(flat.view({2, 13, 4, 16}), k * 1.0, tables.cos, tables.sin);
    CHECK(rq.data_ptr() == flat.data_ptr());
    at::Tensor loss = (rq * wq).sum() + (rk * wk).sum();
    if (shared) loss = loss + (rq.sin() * wq).sum();
    const auto expected = reference(shared);
    for (const bool last : {false, true}) {
      const auto gradients = torch::autograd::grad({loss}, {q, k}, {}, /*retain_graph=*/!last);
      CHECK(tests::relative_error(gradients[0], expected[0]) < 1e-5);
      CHECK(tests::relative_error(gradients[1], expected[1]) < 1e-5);
    }
  }
  // A sum passes one gradient to both terms, so that gradient must not be rotated in place.
  const at::Tensor q = q0.detach().requires_grad_(), k = k0.detach().requires_grad_(), z = wq.detach().requires_grad_();
  const auto [rq, rk] = kernels::rope_(q * 1.0, k * 1.0, tables.cos, tables.sin);
  const at::Tensor upstream = random(4), kept = upstream.clone();
  const auto gradients = torch::autograd::grad({rq + z, rk}, {q, z, k}, {upstream, wk});
  CHECK(tests::same_bits(gradients[1], kept));
  CHECK(tests::same_bits(upstream, kept));
  const at::Tensor unturned = kernels::rope_reference(kept, tables.cos, -tables.sin);
  CHECK(tests::relative_error(gradients[0], unturned) < 1e-6);
}
