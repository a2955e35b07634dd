// Finds cards and limits, and fills the heads of figures that check settings.
#include "lessons/card_limit.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/combinations.h"
#include "demos/predict/time/bound_times.h"
#include "lessons/wording.h"

namespace headroom::lessons {

const predict::Card* card_named(std::string_view words) {
  std::string blanks(words);
  std::ranges::replace(blanks, '_', ' ');
  const std::vector<const predict::Card*> found = predict::find_cards(blanks);
  return found.size() == 1 && found.front()->memory ? found.front() : nullptr;
}

CardLimit card_limit(const View& view, const record::Params& train_step) {
  if (view.card) return *view.card;
  const record::Bytes set = train_step.has("cap") ? train_step.integer("cap") : 0;
  const record::Bytes memory = set > 0 ? set : kUsualCard;
  return {short_bytes(memory), memory};
}

const predict::Card& timed_card(const View& view) {
  const predict::Card* const card = view.card ? card_named(view.card->name) : nullptr;
  return card != nullptr && card->bf16 && card->bandwidth ? *card : *predict::bound_card();
}

std::string card_label(const CardLimit& card, const ShownUnit& unit) {
  return card.name == short_bytes(card.memory) ? short_bytes(card.memory, unit) + " card" : card.name;
}

std::string left_label(const CardLimit& card, const ShownUnit& unit) {
  if (card.name == short_bytes(card.memory)) return short_bytes(card.left(), unit) + " limit";
  return fmt::format("{} {} {}", card.name, card.process.bytes > 0 ? "leaves" : "has",
                     bytes_text(card.left(), unit, 1));
}

bool begin_on_card(FigureHead& head, const View& view, const record::Params& train_step) {
  head.provenance_line = settings_line(run_with(train_step));
  add_settings(head, train_step);
  if (view.hidden) {
    head.empty_reason = kIsAnswer;
    return false;
  }
  auto refused = experiments::refused_combination(train_step, record::DeviceKind::kGpu);
  if (refused) head.empty_reason = *std::move(refused);
  return !refused;
}

}  // namespace headroom::lessons
