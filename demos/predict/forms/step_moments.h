// Closed form of a step's memory by category at every candidate for its peak.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Candidates in step order.
enum class Place : std::uint8_t {
  kForward,
  kLoss,  // peak within the loss
  kHead,  // backward pass, like the next three
  kFinalNorm,
  kRecompute,
  kLayer,
  kLayerStep,  // weight update during the backward pass
  kEmbedding,  // the end of the backward pass
  kOptimizer,
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
  std::int64_t layer = 0;
  record::ByCategory bytes{};

  bool operator==(const StepMoment&) const = default;
};

// Describes the last micro-batch. CPUs have no library workspaces and do not repeat keys.
std::vector<StepMoment> step_moments(const StepSettings& step, record::DeviceKind device = record::DeviceKind::kGpu);
const StepMoment& highest_of(const std::vector<StepMoment>& moments);

// final_norm_bytes() without the norm's output if a frozen head with all logits does not keep it.
record::Bytes final_norm_at_loss(const StepSettings& step);

}  // namespace headroom::predict
