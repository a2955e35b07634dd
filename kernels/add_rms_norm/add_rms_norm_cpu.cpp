// Residual addition and RMSNorm on the CPU.
#include "kernels/add_rms_norm/add_rms_norm.h"
#include "kernels/row_norm/row_norm_cpu.h"

namespace headroom::kernels {

HEADROOM_VECTOR_TARGETS void add_rms_norm_forward_cpu(const NormForward& norm, std::int64_t begin, std::int64_t end) {
  row_norm::forward_rows<NormKind::kAddRms>(norm, begin, end);
}

}  // namespace headroom::kernels
