// Finds cards in the table, else reads a size.
#include "app/common/plan/card_words.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/cards/card_names.h"
#include "demos/record/file/split.h"
#include "demos/record/text.h"

namespace headroom::app {

using record::Error;

namespace {

// The first words in common: "H100 80 GB" for "H100 80 GB PCIe" and "H100 80 GB SXM".
std::string shared_name(std::string_view a, std::string_view b) {
  std::string shared;
  const auto words = record::split(a, ' '), others = record::split(b, ' ');
  for (std::size_t i = 0; i < std::min(words.size(), others.size()) && words[i] == others[i]; ++i)
    shared += (i == 0 ? "" : " ") + words[i];
  return shared;
}

// Merges cards that differ only in form factor.
std::vector<PlannedCard> kinds_of(const std::vector<const predict::Card*>& cards) {
  std::vector<PlannedCard> kinds;
  for (const predict::Card* const card : cards) {
    const auto alike = std::ranges::find_if(kinds, [&](const PlannedCard& kind) {
      return kind.memory == card->memory && kind.compute_capability == card->compute_capability;
    });
    if (alike == kinds.end())
      kinds.push_back(planned_card(card->name, *card->memory, card->compute_capability));
    else
      alike->name = shared_name(alike->name, card->name);
  }
  return kinds;
}

template <class Card>
std::string names_of(const std::vector<Card>& cards, const char* last) {
  std::string names;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    names += i == 0 ? "" : i + 1 == cards.size() ? last : ", ";
    if constexpr (std::is_pointer_v<Card>)
      names += cards[i]->name;
    else
      names += cards[i].name;
  }
  return names;
}

record::Result<PlannedCard> size_of(const std::string& words) {
  const auto size = record::parse_bytes(words);
  if (!size || size.value() <= 0) {
    const auto near = predict::nearest_cards(words);
    return Error{
        fmt::format("There is no card {}; the nearest {} {}. Use a name from `headroom list`, or a size such as "
                    "--card 24GiB.",
                    record::quoted(words), near.size() == 1 ? "is" : "are", names_of(near, " and "))};
  }
  if (words.find_first_not_of("0123456789") == std::string::npos)
    return Error{
        fmt::format("--card {0} has no unit and is not a card's name: write {0}GiB (as cards are sold), or {1} for {0} "
                    "bytes.",
                    words, words + "B")};
  // Cards sold as 24 GB have 24 GiB, so the name shows both if GB was typed.
  const std::string shown = record::format_bytes(size.value());
  const bool decimal = words.ends_with("GB") || words.ends_with("gb");
  return planned_card(decimal ? fmt::format("{} ({})", words, shown) : shown, size.value());
}

}  // namespace

PlannedCard planned_card(std::string name, record::Bytes memory, std::optional<double> compute_capability) {
  const predict::ProcessBytes process = predict::process_bytes(name);
  return {.name = std::move(name), .memory = memory, .process = process, .compute_capability = compute_capability};
}

bool is_this_machine(std::string_view words) {
  const std::vector<const predict::Card*> found = predict::find_cards(words);
  return !found.empty() && !found.front()->memory;
}

record::Result<PlannedCard> card_from(const std::string& words) {
  const std::vector<const predict::Card*> found = predict::find_cards(words);
  if (found.empty()) return size_of(words);
  const std::vector<PlannedCard> kinds = kinds_of(found);
  if (kinds.size() == 1) return kinds.front();
  return Error{fmt::format("{} is the name of several cards: choose one of {}.", record::quoted(words),
                           names_of(kinds, " and "))};
}

record::Result<const predict::Card*> table_card(const std::string& words) {
  if (is_this_machine(words)) return static_cast<const predict::Card*>(nullptr);
  const auto card = card_from(words);
  if (!card) return card.error();
  const std::vector<const predict::Card*> found = predict::find_cards(words);
  return found.empty() ? &predict::card_of_size(card.value().memory) : found.front();
}

}  // namespace headroom::app
