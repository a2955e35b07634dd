// The embedding's gradient on CPU and meta.
#include "kernels/embedding_backward/embedding_backward.h"
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("an id outside the table is named") {
  const at::Tensor dy = at::zeros({3, 4}), dweight = at::zeros({5, 4});
  CHECK_THROWS_WITH(kernels::embedding_backward(dy, at::tensor({0, 5, 1}, at::kLong), dweight, false),
                    ContainsSubstring("token 1 has the id 5"));
  CHECK_THROWS_WITH(kernels::embedding_backward(dy, at::tensor({0, 4, -1}, at::kLong), dweight, true),
                    ContainsSubstring("token 2 has the id -1"));
}

TEST_CASE("the embedding's gradient refuses tensors that are not a table, ids and a gradient") {
  const at::Tensor dy = at::zeros({3, 4}), dweight = at::zeros({5, 4}), ids = at::zeros({3}, at::kLong);
  CHECK_NOTHROW(kernels::embedding_backward(dy, ids, dweight, false));
  CHECK_THROWS(kernels::embedding_backward(dy, ids.to(at::kInt), dweight, false));
  CHECK_THROWS(kernels::embedding_backward(dy, at::zeros({2}, at::kLong), dweight, false));
  CHECK_THROWS(kernels::embedding_backward(dy, ids, at::zeros({5, 3}), false));
  CHECK_THROWS(kernels::embedding_backward(dy, ids, dweight.to(at::kBFloat16), false));
  CHECK_THROWS(kernels::embedding_backward(at::zeros({4, 3}).t(), ids, dweight, false));
}

TEST_CASE("segments of frequent rows always fit their workspace") {
  // Worst case: each row has one token more than a segment holds, and needs two segments.
  for (std::int64_t rows = 0; rows < 300; ++rows) {
    CHECK(2 * rows <= kernels::embedding_segments(rows * (kernels::kEmbeddingSegment + 1)));
  }
}

TEST_CASE("the embedding's gradient computes nothing on meta") {
  const auto options = at::TensorOptions().device(at::kMeta);
  const at::Tensor dy = at::empty({3, 4}, options), dweight = at::empty({5, 4}, options);
  const at::Tensor ids = at::empty({3}, options.dtype(at::kLong));
  kernels::embedding_backward(dy, ids, dweight, false);
  CHECK_THROWS(kernels::embedding_backward(dy, ids, at::empty({5, 3}, options), false));
}
