// Cards by the words that name them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/common/plan/step_plan.h"
#include "demos/predict/cards/cards.h"
#include "demos/record/result.h"

namespace headroom::app {

// `memory`: as the driver reports it.
PlannedCard planned_card(std::string name, record::Bytes memory, std::optional<double> compute_capability = {});

// A name in any usual spelling, or a size such as 24GiB. Form factors are ignored. Refuses unknown and ambiguous names.
record::Result<PlannedCard> card_from(const std::string& words);
bool is_this_machine(std::string_view words);
// The table's first card with that memory, or a card of that size; null: this machine's.
record::Result<const predict::Card*> table_card(const std::string& words);

}  // namespace headroom::app
