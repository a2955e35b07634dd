// Sources of the pages' answers: the planner, recordings (ours or published) or formulas.
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

// Llama 3.2 1B, the model of most pages.
inline constexpr std::int64_t kParameters = 1'235'814'400, kVocabulary = 128'256, kHidden = 2'048;

struct AnswerKey {
  std::string_view page;
  void (*compute)(std::string_view page);  // checks the answer against its source; null: `held_in` does
  std::string_view held_in = {};           // another test, such as one with an engine
};

std::span<const AnswerKey> keys_of_formulas();
std::span<const AnswerKey> keys_of_recordings();

inline std::string right_choice(std::string_view page) {
  const auto& choices = std::get<lessons::ChoiceQuestion>(tests::page(page).question->kind).choices;
  return std::ranges::find_if(choices, &lessons::AnswerChoice::right)->words;
}

// Checks that the page's order is by these values, largest first.
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
