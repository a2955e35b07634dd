// RMSNorm on the CPU, for each storage.
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

namespace {

HEADROOM_VECTOR_TARGETS void rms_norm_forward(float, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<float, NormKind::kRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void rms_norm_forward(Bf16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Bf16, NormKind::kRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void rms_norm_forward(Fp16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Fp16, NormKind::kRms>(norm, begin, end);
}

HEADROOM_VECTOR_TARGETS void rebuild(float, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<float, NormKind::kRebuildRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void rebuild(Bf16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Bf16, NormKind::kRebuildRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void rebuild(Fp16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Fp16, NormKind::kRebuildRms>(norm, begin, end);
}

HEADROOM_VECTOR_TARGETS void rms_norm_backward(float, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<float, false>(norm, part, parts);
}
HEADROOM_VECTOR_TARGETS void rms_norm_backward(Bf16, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<Bf16, false>(norm, part, parts);
}
HEADROOM_VECTOR_TARGETS void rms_norm_backward(Fp16, const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  row_norm::backward_rows<Fp16, false>(norm, part, parts);
}

}  // namespace

void rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) { rms_norm_forward(type, norm, begin, end); });
}

void rms_norm_rebuild_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) { rebuild(type, norm, begin, end); });
}

void rms_norm_backward_cpu(const NormBackward& norm, std::int64_t part, std::int64_t parts) {
  with_storage(norm.storage, [&](auto type) { rms_norm_backward(type, norm, part, parts); });
}

}  // namespace headroom::kernels
