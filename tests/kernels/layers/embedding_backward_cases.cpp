// The embedding's gradient on any device.
#include <limits>

#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

struct TokenCase {
  std::int64_t tokens, width, vocab_size;
  double common;  // share of tokens with id 3 mod V
};

constexpr TokenCase kTokenCases[] = {{0, 8, 5, 0},          {1000, 40, 97, 0.5},      {5000, 33, 300, 0.3},
                                     {65, 16, 4, 1.0},      {64, 16, 4, 1.0},         {1025, 16, 4, 1.0},
                                     {20'000, 24, 50, 0.9}, {4096, 128, 30'000, 0.05}};

at::Tensor token_ids(const TokenCase& c) {
  const at::Tensor ids = at::randint(c.vocab_size, {c.tokens}, at::kLong);
  return ids.masked_fill(at::rand({c.tokens}) < c.common, 3 % c.vocab_size).to(tests::tested_device());
}

}  // namespace

TEST_CASE("the embedding's gradient has at most twice the error of PyTorch's") {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const TokenCase& c : kTokenCases) {
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(c10::toString(type), c.tokens, c.width, c.vocab_size, c.common, offset);
        at::manual_seed(11);
        const at::Tensor ids = token_ids(c);
        const at::Tensor dy = tests::random_at({c.tokens, c.width}, 1, offset, type, tests::tested_device());
        const at::Tensor exact = kernels::embedding_backward_reference(dy, ids, c.vocab_size);
        const at::Tensor torch = at::embedding_dense_backward(dy, ids, c.vocab_size, -1, false);
        const double floor = type == at::kFloat ? tests::kFloor : type == at::kHalf ? 0x1p-11 : 0x1p-8;  // one rounding
        for (const at::ScalarType table : {type, at::kFloat}) {
          const at::Tensor dweight =
              at::full({c.vocab_size, c.width}, std::numeric_limits<double>::quiet_NaN(), dy.options().dtype(table));
          kernels::embedding_backward(dy, ids, dweight, /*accumulate=*/false);
          CHECK(tests::relative_error(dweight, exact) <=
                2 * tests::relative_error(torch, exact) + (table == at::kFloat ? tests::kFloor : floor));
        }
      }
    }
  }
}

TEST_CASE("the embedding's gradient accumulates, keeps unused rows, and repeats its bits") {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    at::manual_seed(13);
    const TokenCase c{5000, 48, 20'000, 0.4};
    const at::Tensor ids = token_ids(c);
    const at::Tensor dy = tests::random_at({c.tokens, c.width}, 1, 0, type, tests::tested_device());
    const at::Tensor first = at::empty({c.vocab_size, c.width}, dy.options()), second = at::empty_like(first);
    kernels::embedding_backward(dy, ids, first, false);
    kernels::embedding_backward(dy, ids, second, false);
    CHECK(tests::same_bits(first, second));
    // Used rows' gradients are added to 1; unused rows (NaN) are not even read.
    const at::Tensor used = at::zeros({c.vocab_size}, ids.options()).index_fill_(0, ids, 1).to(at::kBool).unsqueeze(1);
    const at::Tensor start = at::ones_like(first).masked_fill(~used, std::numeric_limits<double>::quiet_NaN());
    const at::Tensor sum = start.clone();
    kernels::embedding_backward(dy, ids, sum, true);
    CHECK(tests::same_bits(at::where(used, at::zeros_like(sum), sum), at::where(used, at::zeros_like(start), start)));
    const at::Tensor exact = kernels::embedding_backward_reference(dy, ids, c.vocab_size) + 1;
    CHECK(tests::relative_error(at::where(used, sum, at::ones_like(sum)), exact) <
          (type == at::kFloat ? 1e-6 : 0x1p-8));
    CHECK(tests::same_bits(at::where(used, at::zeros_like(first), first), at::zeros_like(first)));  // +0, not −0 or NaN
  }
}
