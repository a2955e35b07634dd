// The weights that a step trains, and the share of them that one rank updates.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/predict/parallel.h"
#include "demos/predict/step_settings.h"

namespace headroom::predict {

// Weights of one shape; `count` of them, in all layers together if `in_layers`.
struct TrainedWeight {
  std::int64_t elements = 0;
  std::int64_t count = 0;
  bool matrix = true;  // norms and biases are not cut
  bool in_layers = true;
};
std::vector<TrainedWeight> trained_weights(const StepSettings& step);

Cut cut_of(const TrainedWeight& weight, std::int64_t shards);
// Elements whose optimizer state a rank keeps. 1B, ZeRO-1, N = 4: 309,003,264, a quarter of the matrices, and 67,584
// of norms.
std::int64_t updated_parameters(const StepSettings& step);
// The same in one layer, or outside the layers.
std::int64_t updated_parameters_of_layer(const StepSettings& step);
std::int64_t updated_outer_parameters(const StepSettings& step);

}  // namespace headroom::predict
