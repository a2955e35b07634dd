// The embedding's gradient on a GPU.
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

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
