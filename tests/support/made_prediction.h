// Predictions of runs made by hand: the same requests with storages, times and steps of their own, without segments.
#pragma once

#include <functional>

#include "demos/predict/allocator/rewrite.h"
#include "demos/record/recording.h"
#include "tests/support/made_recording.h"

namespace headroom::tests {

// `change` may change an allocation or free, given its number in the prediction.
inline record::Recording made_prediction(
    const MadeRun& run, const std::function<void(record::MemEvent& event, std::size_t number)>& change = {}) {
  const record::Recording made = made_recording(run);
  const auto time_of = [](std::size_t events) { return static_cast<record::Nanoseconds>(events * events); };
  const auto take = [&](record::MemEvent event, std::vector<record::MemEvent>& events) {
    if (event.kind == record::EventKind::kSegmentAlloc) return true;
    event.storage += 1000;
    event.time = time_of(events.size());
    event.allocator_allocated = event.allocator_reserved = record::kUnknownBytes;
    if (change) change(event, events.size());
    events.push_back(event);
    return true;
  };
  record::Recording prediction = predict::rewritten(
      made, take, [&](record::Mark& mark) { mark.host_time = mark.device_time = time_of(mark.event_index); });
  prediction.set_source(record::Source::kPredicted);
  return prediction;
}

}  // namespace headroom::tests
