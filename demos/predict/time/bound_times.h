// Sets the times of a predicted step's events so that every phase takes its lower bound: GEMMs at the card's peak,
// bytes outside GEMMs at its bandwidth.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "demos/predict/cards/cards.h"
#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// Seconds by phase; nullopt if the card's numbers are unknown or the card lacks the format.
std::optional<std::array<double, record::kNumPhases>> bound_seconds(const StepSettings& step, const Card& card);

// Spaces events evenly within each phase. Provenance names the card. If bound_seconds() is nullopt, returns
// `prediction` unchanged.
record::Recording with_bound_times(record::Recording prediction, const StepSettings& step, const Card& card);

inline constexpr std::string_view kBoundFact = "bound_of";  // provenance: the card's name
inline constexpr std::string_view kBoundCard = "H200 SXM";  // card of most stored runs
const Card* bound_card();

}  // namespace headroom::predict
