// The card that a figure of settings is about: a parameter with cards of assets/cards.csv, or the limit that is set.
#pragma once

#include <array>
#include <string>

#include "demos/predict/fits.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

inline constexpr std::array<record::Choice, 8> kCardChoices{{{"limit", "the limit that is set, else 24 GiB"},
                                                             {"rtx_3090", "GeForce RTX 3090"},
                                                             {"rtx_4090", "GeForce RTX 4090"},
                                                             {"rtx_5090", "GeForce RTX 5090"},
                                                             {"l40s", "L40S"},
                                                             {"a100_80", "A100 80 GB SXM"},
                                                             {"h200", "H200 SXM"},
                                                             {"b200", "B200 SXM"}}};
inline constexpr record::ParamSpec kCardParam{.key = "card",
                                              .label = "Card",
                                              .help = "Whose memory the step is to fit in",
                                              .kind = record::ParamKind::kChoice,
                                              .default_text = "limit",
                                              .choices = kCardChoices};

struct CardLimit {
  std::string name;          // "GeForce RTX 4090", "24 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process;
};

// `figure`: with kCardParam; `train_step`: whose cap is the limit that is set, without a process beside it.
CardLimit card_limit(const record::Params& figure, const record::Params& train_step);

// The head of a figure of these settings. False: there is nothing to draw, and it says why: they do not go together, or the
// figure would answer the question.
bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step);

}  // namespace headroom::lessons
