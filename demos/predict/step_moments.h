// The moments of a whole training step that can be its highest, in closed form: what each kind of memory takes there.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// What is computed at a moment, in the order of the step.
enum class Place : std::uint8_t {
  kForward,    // of a layer
  kLoss,       // the loss holds most
  kHead,       // backward, as the next three
  kFinalNorm,  //
  kRecompute,  // a layer is computed again
  kLayer,      // a layer's MLP or attention
  kLayerStep,  // a layer's weights are stepped in backward
  kEmbedding,  // the end of backward
  kOptimizer,  // all weights are stepped
};
inline record::Phase phase_of(Place place) {
  switch (place) {
    case Place::kForward:
      return record::Phase::kForward;
    case Place::kLoss:
      return record::Phase::kLoss;
    case Place::kRecompute:
      return record::Phase::kRecompute;
    case Place::kHead:
    case Place::kFinalNorm:
    case Place::kLayer:
    case Place::kEmbedding:
      return record::Phase::kBackward;
    case Place::kLayerStep:
    case Place::kOptimizer:
      return record::Phase::kOptimizer;
  }
  return record::Phase::kLoss;
}

struct StepMoment {
  Place place = Place::kLoss;
  std::int64_t layer = 0;  // of a place in a layer
  record::ByCategory bytes{};

  bool operator==(const StepMoment&) const = default;
};

// Of the last of the step's micro-batches. On a CPU no library takes a workspace, and attention in fp32 repeats no key.
std::vector<StepMoment> step_moments(const StepSettings& step, record::DeviceKind device = record::DeviceKind::kGpu);
// The one with the most bytes.
const StepMoment& highest_of(const std::vector<StepMoment>& moments);

// What the final norm adds to the layers' activations at the loss: final_norm_bytes(), without the norm's output where a frozen
// head of all logits does not keep it.
record::Bytes final_norm_at_loss(const StepSettings& step);

}  // namespace headroom::predict
