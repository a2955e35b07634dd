// The embedding gradient in float64.
#include "kernels/embedding_backward/embedding_backward_ops.h"

namespace headroom::kernels {

at::Tensor embedding_backward_reference(const at::Tensor& dy_NH, const at::Tensor& ids_N, std::int64_t vocab_size) {
  const at::Tensor table = at::zeros({vocab_size, dy_NH.size(1)}, dy_NH.options().dtype(at::kDouble));
  return table.index_add(0, ids_N, dy_NH.to(at::kDouble));
}

}  // namespace headroom::kernels
