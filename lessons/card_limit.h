// The card that a figure checks settings against.
#pragma once

#include <string>
#include <string_view>

#include "demos/record/schema.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

// The card that `words` name, separated by blanks or underscores; null if none or several match.
const predict::Card* card_named(std::string_view words);

// The memory of a card if none is known.
inline constexpr record::Bytes kUsualCard = 24 * record::kGiB;

// The view's card, else the limit in `train_step`, else 24 GiB. Only the view's card counts process bytes.
CardLimit card_limit(const View& view, const record::Params& train_step);

// The card of the table that times are computed for: the view's if its bf16 peak and bandwidth are known, else the card
// of most stored runs.
const predict::Card& timed_card(const View& view);

// Names the card's line: "GeForce RTX 4090", or a size in the chart's unit, "24 GiB card".
std::string card_label(const CardLimit& card, const ShownUnit& unit);

// "GeForce RTX 4090 leaves 23.3 GiB"; a limit is named by its size, "24 GiB limit".
std::string left_label(const CardLimit& card, const ShownUnit& unit);

// Fills the head for these settings. Returns false and sets `empty_reason` if they are incompatible or the figure would
// give away the answer.
bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step);

}  // namespace headroom::lessons
