// The summary of one run; a sweep's recording has these instead of events.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "demos/record/rows/outcome.h"
#include "demos/record/units.h"

namespace headroom::record {

// Peak of the whole run or, if that ran out of memory, of the part before.
struct SweptPeak {
  Bytes allocated = 0;
  Bytes requested = 0;
  Bytes reserved = 0;        // 0 without segments
  Bytes host = 0;            // host memory used instead of the device's
  ByCategory by_category{};  // sums to `allocated`
  Phase phase = Phase::kSetup;

  bool operator==(const SweptPeak&) const = default;
};

struct SweepPoint {
  std::string series;                         // "liger_all"; one line per series
  std::string label;                          // "batch=4", "checkpointing"
  std::map<std::string, std::string> params;  // as typed
  Outcome outcome;
  SweptPeak peak;

  // Median and 20/80 % quantiles without the first step; 0: not measured.
  double tokens_per_second = 0, tokens_per_second_low = 0, tokens_per_second_high = 0;
  std::optional<double> loss;  // at the last step
  int steps = 0;               // completed

  // Differences from the recording's provenance, such as a later revision.
  std::map<std::string, std::string> provenance;
  std::string recording;  // file with this run's events, next to the sweep's; empty: none

  bool operator==(const SweepPoint&) const = default;
};

template <class Io>
void fields(Io& io, SweepPoint& p) {
  io.text("series", p.series);
  io.text("label", p.label);
  io.texts("params", p.params);
  io.object("outcome", p.outcome);
  io.whole("peak_allocated", p.peak.allocated, kMostBytes);
  io.whole("peak_requested", p.peak.requested, kMostBytes);
  io.whole("peak_reserved", p.peak.reserved, kMostBytes);
  io.whole("peak_host", p.peak.host, kMostBytes);
  io.by_category("peak_by_category", p.peak.by_category);
  io.choice("peak_phase", p.peak.phase, kNumPhases);
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
