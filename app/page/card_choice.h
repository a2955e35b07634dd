// Chooses the card that a page's steps must fit on.
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

struct CardSources {
  const predict::Card* chosen = nullptr;
  record::Bytes limit = 0;
  record::DeviceKind device = record::DeviceKind::kCpu;
  const backend::Backend* machine = nullptr;
  std::span<const RunOnShow> runs;
};

// A limit takes precedence. Without one, a CPU has its memory, and a GPU is the chosen card, this machine's or that of
// the page's run. Empty: unknown.
std::optional<PlannedCard> card_of(const CardSources& sources);
PlannedCard planned_card(const predict::Card& card);  // its memory must be known

// The card as figures draw it. A set limit is named by its size.
lessons::CardLimit limit_of(const PlannedCard& card, bool limit);

}  // namespace headroom::app::page
