// Updates layer by layer in backward.
#include "demos/engine/llama/optimizers/optimizer_in_backward.h"

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

void UpdateInBackward::gradients_ready(std::int64_t layer) {
  mark_backward(record::Phase::kOptimizer, layer == kOuterLayer ? record::kNoLayer : static_cast<std::uint16_t>(layer));
  const std::span<const std::size_t> group = optimizer_.group(layer);
  optimizer_.begin_step();
  optimizer_.update(group);
  optimizer_.drop_gradients(group);
}

int UpdateInBackward::marks_per_pass(const Config& config) const { return static_cast<int>(config.num_layers) + 1; }

}  // namespace headroom::llama
