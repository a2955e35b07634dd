// Cards, limits, and the head of a figure about them.
#include "lessons/card_limit.h"

#include <utility>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "lessons/wording.h"

namespace headroom::lessons {

CardLimit card_limit(const record::Params& figure, const record::Params& train_step) {
  if (figure.text("card") != "limit")
    for (const predict::Card* const card : predict::find_cards(record::label_of(kCardParam, figure.text("card"))))
      if (card->memory) return {card->name, *card->memory, predict::process_bytes(card->name)};
  const record::Bytes set = train_step.integer("cap"), memory = set > 0 ? set : 24 * record::kGiB;
  return {short_bytes(memory), memory, {}};
}

bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step) {
  record::RunInfo asked;  // the settings in the words of a run
  asked.demo = experiments::training_step().id;
  asked.params = train_step.to_map();
  head.provenance_line = settings_line(asked);
  for (const auto& [key, value] : asked.params)
    if (train_step.in_use(key)) head.provenance["setting." + key] = value;
  if (view.hidden) {
    head.empty_reason = "The figure is the answer: lock yours, or skip.";
    return false;
  }
  auto refused = experiments::refused_combination(train_step, record::DeviceKind::kGpu);
  if (refused) head.empty_reason = *std::move(refused);
  return !refused;
}

}  // namespace headroom::lessons
