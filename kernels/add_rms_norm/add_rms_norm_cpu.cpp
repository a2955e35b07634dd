// Residual addition and RMSNorm on the CPU, for each storage.
#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

namespace {

HEADROOM_VECTOR_TARGETS void add_rms_norm_forward(float, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<float, NormKind::kAddRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void add_rms_norm_forward(Bf16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Bf16, NormKind::kAddRms>(norm, begin, end);
}
HEADROOM_VECTOR_TARGETS void add_rms_norm_forward(Fp16, const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<Fp16, NormKind::kAddRms>(norm, begin, end);
}

}  // namespace

void add_rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  with_storage(norm.storage, [&](auto type) { add_rms_norm_forward(type, norm, begin, end); });
}

}  // namespace headroom::kernels
