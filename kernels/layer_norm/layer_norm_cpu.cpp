// LayerNorm on the CPU, for each storage.
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

namespace {

HEADROOM_VECTOR_TARGETS void layer_norm_forward(float, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<float, NormKind::kLayer>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void layer_norm_forward(Bf16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Bf16, NormKind::kLayer>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void layer_norm_forward(Fp16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Fp16, NormKind::kLayer>(norm, begin, end);
}

HEADROOM_VECTOR_TARGETS void layer_norm_backward(float, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<float, true>(norm, part, parts);
}
HEADROOM_VECTOR_TARGETS void layer_norm_backward(Bf16, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<Bf16, true>(norm, part, parts);
}
HEADROOM_VECTOR_TARGETS void layer_norm_backward(Fp16, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<Fp16, true>(norm, part, parts);
}

}  // namespace

void layer_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) { layer_norm_forward(type, norm, begin, end); });
}

void layer_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  with_storage(norm.storage, [&](auto type) { layer_norm_backward(type, norm, part, parts); });
}

}  // namespace headroom::kernels
