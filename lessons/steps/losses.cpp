// Reads losses and words their differences.
#include "lessons/steps/losses.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "lessons/wording.h"

namespace headroom::lessons {

LossByStep losses_of(const record::Recording& recording, record::MetricKind kind) {
  LossByStep losses;
  for (const record::MetricSample& sample : recording.metrics())
    if (sample.kind == kind && std::isfinite(sample.value)) losses[sample.step] = sample.value;
  return losses;
}

std::string small_text(double value) {
  const double size = std::abs(value);
  const std::string_view sign = value < 0 ? "−" : "";
  if (size == 0) return "0";
  if (size >= 1e-3) return fmt::format("{}{:.4f}", sign, size);
  if (size >= 1e-6) return fmt::format("{}{:.3g} millionths", sign, size * 1e6);
  return fmt::format("{}{:.3g} billionths", sign, size * 1e9);
}

Axis steps_axis(const record::RunInfo& info, const LossByStep& run, const LossByStep& baseline) {
  const double requested = std::strtod(value_of(info.params, "steps").c_str(), nullptr) - 1;
  Axis axis{.unit = AxisUnit::kSteps, .high = std::max(requested, 1.0), .name = "step"};
  for (const LossByStep* each : {&run, &baseline})
    if (!each->empty()) axis.high = std::max(axis.high, static_cast<double>(each->rbegin()->first));
  const double inset = 0.015 * axis.high;  // keeps marks from being cut at the edge
  axis.low -= inset, axis.high += inset;
  return axis;
}

std::string why_no_loss(const record::Recording& recording) {
  return recording.outcome() ? "This run measured no loss, because it finished no step."
                             : "The first step is still running.";
}

}  // namespace headroom::lessons
