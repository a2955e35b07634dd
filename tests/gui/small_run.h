// A recording of small training steps, made by hand: the shapes of a real one (weights, AdamW, four layers, loss,
// backward) in round numbers, so that tests know what they must see.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::tests {

struct SmallRun {
  int steps = 2;
  int layers = 4;
  record::Bytes weights = 40 * record::kMiB;      // in two tensors
  record::Bytes activations = 10 * record::kMiB;  // a layer
  record::Bytes logits = 30 * record::kMiB;       // and as much again for their gradient
  record::Source source = record::Source::kRecorded;
  record::DeviceKind device = record::DeviceKind::kCpu;
  bool out_of_memory = false;  // the last step ends at the logits' gradient
  int extra_events = 0;        // short-lived blocks in each layer, to make a long recording
};

// With AdamW's two moments the static part is 3 × weights; the peak of a step is at the end of the loss:
// 3 × weights + layers × activations + 2 × logits.
std::shared_ptr<record::Recording> small_run(const SmallRun& shape = {});
record::Bytes peak_of(const SmallRun& shape);

}  // namespace headroom::tests
