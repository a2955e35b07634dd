// The card that a figure of settings is about.
#pragma once

#include <string_view>

#include "demos/predict/fits.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

// The one card that these words name, blanks or underscores between them; null: none, or several.
const predict::Card* card_named(std::string_view words);

// The view's card, else the limit that is set, else 24 GiB, both without a process. `train_step`: with the limit.
CardLimit card_limit(const View& view, const record::Params& train_step);

// The head of a figure of these settings. False: there is nothing to draw, and it says why: they do not go together, or the
// figure would answer the question.
bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step);

}  // namespace headroom::lessons
