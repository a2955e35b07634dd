// Where the right answer of each page's question comes from: the planner, a recording (ours, or published) or a formula.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/course.h"

namespace headroom::tests {

// Of Llama 3.2 1B, which most pages speak of.
inline constexpr std::int64_t kParameters = 1'235'814'400, kVocabulary = 128'256, kHidden = 2'048;

struct AnswerKey {
  std::string_view page;
  void (*compute)(std::string_view page);  // checks the document's answer against its source; null: `held_in` does
  std::string_view held_in = {};           // another test, such as one with an engine, which asks the planner
};

std::span<const AnswerKey> keys_of_formulas();
std::span<const AnswerKey> keys_of_recordings();

inline std::string right_choice(std::string_view page) {
  const auto& choices = std::get<lessons::ChoiceQuestion>(tests::page(page).question->kind).choices;
  return std::ranges::find_if(choices, &lessons::AnswerChoice::right)->words;
}

// The order that falls out of these numbers, the largest first, is the page's.
inline void check_order(std::string_view page, const std::map<std::string, double>& values) {
  const std::vector<std::string>& items = std::get<lessons::OrderQuestion>(tests::page(page).question->kind).items;
  REQUIRE(items.size() == values.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    INFO(items[i]);
    REQUIRE(values.contains(items[i]));
    if (i > 0) CHECK(values.at(items[i - 1]) > values.at(items[i]));
  }
}

}  // namespace headroom::tests
