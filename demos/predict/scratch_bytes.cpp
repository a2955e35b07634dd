#include "demos/predict/scratch_bytes.h"

#include <algorithm>

#include "demos/llama/extension.h"
#include "demos/predict/gpu_extras.h"
#include "demos/predict/step_bytes.h"
#include "kernels/embedding_backward/embedding_backward.h"

namespace headroom::predict {

using record::Bytes;

Bytes attention_scratch_bytes(const StepSettings& step) {
  if (step.fused.attention == Attention::kEager) return 0;
  const llama::Config& c = step.model;
  const std::int64_t n = step.tokens(), q = c.num_heads * c.head_dim, s = step.element_bytes();
  const Bytes rows = kFp32 * n * c.num_heads;
  if (s == kFp32) return rows + fp32_attention_tiles(step.batch * c.num_heads, step.sequence, c.head_dim);
  return rows + n * q * (kFp32 + (c.num_heads != c.num_kv_heads ? 2 * s : 0));
}

Bytes embedding_scratch_bytes(const StepSettings& step, record::DeviceKind device) {
  if (!step.fused.embedding) return device == record::DeviceKind::kGpu ? id_sort_bytes(step) : 0;
  constexpr Bytes kInteger = 4;
  return kInteger * kernels::embedding_integers(step.tokens(), step.model.vocab_size) +
         kFp32 * kernels::embedding_segments(step.tokens()) * step.model.hidden_size;
}

}  // namespace headroom::predict
