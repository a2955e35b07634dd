// A recording of small training steps, made by hand in round numbers: weights, AdamW, four layers, loss, backward.
// Tests know the results.
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
  record::Bytes activations = 10 * record::kMiB;  // per layer
  record::Bytes logits = 30 * record::kMiB;       // allocated again for their gradient
  record::Source source = record::Source::kRecorded;
  record::DeviceKind device = record::DeviceKind::kCpu;
  bool out_of_memory = false;  // the last step ends at the logits' gradient
  int extra_events = 0;        // short-lived blocks per layer, for long recordings
};

// Static memory is 3 × weights, with AdamW's two moments. The peak is at the end of the loss: 3 × weights + layers ×
// activations + 2 × logits.
std::shared_ptr<record::Recording> small_run(const SmallRun& shape = {});
record::Bytes peak_of(const SmallRun& shape);

}  // namespace headroom::tests
