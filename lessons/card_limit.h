// The card that a figure of settings is about.
#pragma once

#include <string_view>

#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

// The only card that these words name, separated by blanks or underscores; null if none or several match.
const predict::Card* card_named(std::string_view words);

// The view's card, else the set limit, else 24 GiB, the latter two without a process.
CardLimit card_limit(const View& view, const record::Params& train_step);

// Fills the head for these settings. False if they are incompatible or the figure would answer the question.
bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step);

}  // namespace headroom::lessons
