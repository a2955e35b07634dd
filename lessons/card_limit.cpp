#include "lessons/card_limit.h"

#include "lessons/wording.h"

namespace headroom::lessons {

CardLimit card_limit(const record::Params& figure, const record::Params& train_step) {
  if (figure.text("card") != "limit")
    for (const predict::Card* const card : predict::find_cards(record::label_of(kCardParam, figure.text("card"))))
      if (card->memory) return {card->name, *card->memory, predict::process_bytes(card->name)};
  const record::Bytes set = train_step.integer("cap"), memory = set > 0 ? set : 24 * record::kGiB;
  return {short_bytes(memory), memory, {}};
}

}  // namespace headroom::lessons
