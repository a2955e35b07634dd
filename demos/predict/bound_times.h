// When the events of a predicted step would be if each phase took as long as it must: its matrix products at the card's peak,
// the bytes of everything else at its bandwidth.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "demos/predict/cards.h"
#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// Seconds of a step by phase; nothing: the card's numbers are not known, or it lacks the format.
std::optional<std::array<double, record::kNumPhases>> bound_seconds(const StepSettings& step, const Card& card);

// The same events in the same order; inside a phase they are evenly apart, as nothing says more. Provenance names the card.
// Unchanged where bound_seconds() has nothing.
record::Recording with_bound_times(record::Recording prediction, const StepSettings& step, const Card& card);

inline constexpr std::string_view kBoundFact = "bound_of";  // provenance: the card's name
inline constexpr std::string_view kBoundCard = "H200 SXM";  // most stored runs are of one
const Card* bound_card();

}  // namespace headroom::predict
