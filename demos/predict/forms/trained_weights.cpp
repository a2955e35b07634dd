// Lists the trained weights.
#include "demos/predict/forms/trained_weights.h"

#include "demos/llama/layer_weights.h"
#include "demos/predict/forms/step_bytes.h"

namespace headroom::predict {

using llama::LayerWeight;
using llama::WeightKind;

std::vector<TrainedWeight> trained_weights(const StepSettings& step) {
  const llama::Config& c = step.model;
  std::vector<TrainedWeight> all;
  if (step.adapters.kind != AdapterKind::kOff) {
    for (const LayerWeight& each : projections(c, step.extension)) {
      if (!has_adapter(each, step.adapters.targets)) continue;
      all.push_back({.elements = step.adapters.rank * each.columns, .count = each.count});
      all.push_back({.elements = each.rows * step.adapters.rank, .count = each.count});
    }
    return all;
  }
  all.push_back({.elements = c.vocab_size * c.hidden_size, .count = c.tie_word_embeddings ? 1 : 2, .in_layers = false});
  all.push_back({.elements = c.hidden_size, .count = 1, .matrix = false, .in_layers = false});
  for (const LayerWeight& each : llama::layer_weights(c, step.extension)) {
    const bool matrix = each.kind == WeightKind::kMatrix || each.kind == WeightKind::kRouter;
    all.push_back({.elements = each.elements(), .count = each.count, .matrix = matrix});
  }
  return all;
}

Cut cut_of(const TrainedWeight& weight, std::int64_t shards) {
  return weight.matrix || shards == 1 ? cut_of(weight.elements, shards) : Cut{.rest = weight.elements};
}

namespace {

std::int64_t updated(const StepSettings& step, bool in_layers) {
  std::int64_t sum = 0;
  for (const TrainedWeight& each : trained_weights(step))
    if (each.in_layers == in_layers) sum += each.count * cut_of(each, step.parallel.shards()).held();
  return sum;
}

}  // namespace

std::int64_t updated_parameters(const StepSettings& step) { return updated(step, true) + updated(step, false); }

std::int64_t updated_parameters_of_layer(const StepSettings& step) {
  return updated(step, true) / step.model.num_layers;
}

std::int64_t updated_outer_parameters(const StepSettings& step) { return updated(step, false); }

}  // namespace headroom::predict
