// The card that a page's steps are to fit on: one for its verdict, its switches and all of its figures.
#pragma once

#include <optional>
#include <span>

#include "app/common/step_plan.h"
#include "app/page/run_on_show.h"
#include "demos/backend/backend.h"
#include "demos/predict/cards.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::app::page {

// The sources of a card.
struct CardSources {
  const predict::Card* chosen = nullptr;  // null: none is
  record::Bytes limit = 0;                // that is set; 0: none
  record::DeviceKind device = record::DeviceKind::kCpu;
  const backend::Backend* machine = nullptr;  // null: not known
  std::span<const RunOnShow> runs;            // of the page
};

// The limit that is set; else of a CPU its memory, of a GPU the card that was chosen, this machine's, or that of the page's
// run. Nothing: none is known.
std::optional<PlannedCard> card_of(const CardSources& sources);
PlannedCard planned_card(const predict::Card& card);  // whose memory is known

// As figures hold steps against it. `limit`: it is one that is set.
lessons::CardLimit limit_of(const PlannedCard& card, bool limit);

}  // namespace headroom::app::page
