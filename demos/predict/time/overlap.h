// The backward pass of a rank on a clock, with the sums of gradients on a link while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "demos/predict/cards/cards.h"
#include "demos/predict/forms/ring.h"
#include "demos/predict/step_settings.h"
#include "demos/record/scope.h"

namespace headroom::predict {

// Seconds of one micro-batch's backward pass.
struct BackwardTimes {
  double head = 0;   // gradients of the output head; 0 if a chunked loss computes them
  double layer = 0;  // one layer, with what it recomputes

  double sum(std::int64_t layers) const { return head + static_cast<double>(layers) * layer; }
};
// Lower bounds, as in bound_seconds(). All bytes outside GEMMs are the layers'.
std::optional<BackwardTimes> backward_times(const StepSettings& step, const Card& card);

// A part of backward: a layer, or the head (kNoLayer).
struct BackwardPart {
  std::uint16_t layer = record::kNoLayer;
  double begin = 0, end = 0;  // seconds
};
// Gradients that are summed together, at least `bucket` bytes except in the last sum.
struct GradientSum {
  std::vector<std::uint16_t> layers;  // in the order of backward
  bool outer = false;                 // with the embedding, the head and the last norm
  record::Bytes bytes = 0;            // of the gradients
  double begin = 0, end = 0;
};

struct Overlap {
  std::vector<BackwardPart> backward;
  std::vector<GradientSum> sums;
  double alone = 0;        // backward without sums
  record::Bytes sent = 0;  // by a rank

  double end() const { return sums.empty() ? alone : sums.back().end; }
  double waits() const { return end() - alone; }  // not hidden
  double summing() const;
};
// The backward pass of a micro-batch whose gradients are summed, in data parallelism (ZeRO off). As in our step one sum
// runs at a time, while later layers are in backward; backward waits when it has the next bucket before the sum is
// done. Li et al. 2020, arXiv:2006.15704, section 3.2.
Overlap overlap(const StepSettings& step, const BackwardTimes& times, const Link& link);

}  // namespace headroom::predict
