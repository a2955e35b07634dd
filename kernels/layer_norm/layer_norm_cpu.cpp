// LayerNorm on the CPU.
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

HEADROOM_VECTOR_TARGETS void layer_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<NormKind::kLayer>(norm, begin, end);
}

HEADROOM_VECTOR_TARGETS void layer_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows</*kMean=*/true>(norm, part, parts);
}

}  // namespace headroom::kernels
