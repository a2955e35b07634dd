// Losses of a run by step, for figures that compare runs.
#pragma once

#include <map>
#include <string>

#include "demos/record/recording.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

using LossByStep = std::map<std::int32_t, double>;

// Finite losses only.
LossByStep losses_of(const record::Recording& recording, record::MetricKind kind = record::MetricKind::kLoss);

// With few digits and in words: "0.0213", "2.1 millionths".
std::string small_text(double value);

// An axis of steps up to the requested last one, so that it does not move while a run grows.
Axis steps_axis(const record::RunInfo& info, const LossByStep& run, const LossByStep& baseline);

// Why there is nothing to draw for a run without losses.
std::string why_no_loss(const record::Recording& recording);

}  // namespace headroom::lessons
