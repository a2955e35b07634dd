// One run of many: what a sweep keeps of it. A sweep's recording holds these instead of events.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "demos/record/outcome.h"
#include "demos/record/units.h"

namespace headroom::record {

struct SweepPoint {
  std::string series;                         // "liger_all"; points of one series make one line
  std::string label;                          // within its series: "batch=4", "checkpointing"
  std::map<std::string, std::string> params;  // of the run, as they are typed
  Outcome outcome;

  // Over the whole run, as in a run's summary; of one that ran out of memory, until then.
  Bytes peak_allocated = 0;
  Bytes peak_requested = 0;
  Bytes peak_reserved = 0;        // 0 where the allocator has no segments
  Bytes peak_host = 0;            // of host memory used instead of the device's
  ByCategory peak_by_category{};  // adds up to peak_allocated
  Phase peak_phase = Phase::kSetup;

  // Median and 20/80 % quantiles without the first step; all 0: not measured.
  double tokens_per_second = 0, tokens_per_second_low = 0, tokens_per_second_high = 0;
  std::optional<double> loss;  // of the last step
  int steps = 0;               // whole ones

  // Where it differs from the recording's: a later revision, another GPU.
  std::map<std::string, std::string> provenance;
  std::string recording;  // name of a file beside the sweep's with this run's events; empty: not kept

  bool operator==(const SweepPoint&) const = default;
};

template <class Io>
void fields(Io& io, SweepPoint& p) {
  io.text("series", p.series);
  io.text("label", p.label);
  io.texts("params", p.params);
  io.object("outcome", p.outcome);
  io.whole("peak_allocated", p.peak_allocated, kMostBytes);
  io.whole("peak_requested", p.peak_requested, kMostBytes);
  io.whole("peak_reserved", p.peak_reserved, kMostBytes);
  io.whole("peak_host", p.peak_host, kMostBytes);
  io.by_category("peak_by_category", p.peak_by_category);
  io.choice("peak_phase", p.peak_phase, kNumPhases);
  io.real("tokens_per_second", p.tokens_per_second);
  io.real("tokens_per_second_low", p.tokens_per_second_low);
  io.real("tokens_per_second_high", p.tokens_per_second_high);
  io.real("loss", p.loss);
  io.whole("steps", p.steps, kMostSteps);
  io.texts("provenance", p.provenance);
  io.text("recording", p.recording);
  io.check(p.tokens_per_second_low <= p.tokens_per_second && p.tokens_per_second <= p.tokens_per_second_high,
           "the order of the quantiles");
}

}  // namespace headroom::record
