// Numbers and names in a page's words, `{logits.bytes}`, that follow the shown run or the settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/schema.h"

namespace headroom::lessons {

struct NumberInput {
  const record::Params* settings = nullptr;  // of train_step: the run's, else the reader's
  const record::Ledger* run = nullptr;       // null: nothing has run
  const record::Ledger* baseline = nullptr;
};

struct LiveNumber {
  std::string_view name;
  // The number with its unit; empty if unknown, such as a peak without a run.
  std::string (*text)(const NumberInput& input);
};
std::span<const LiveNumber> live_numbers();
const LiveNumber* find_number(std::string_view name);

// A `{name}` in a text, but not in formulas between $.
struct NumberPlace {
  std::string name;
  std::size_t begin = 0, end = 0;  // positions of the braces; `end` is exclusive
};
std::vector<NumberPlace> numbers_in(std::string_view markdown);

// Drops a sentence with an unknown number.
std::string with_numbers(std::string_view markdown, const NumberInput& input);
// The numbers' texts in order; empty if unknown.
std::vector<std::string> number_texts(std::string_view markdown, const NumberInput& input);
// Replaces numbers by these texts, by an ellipsis if empty or missing.
std::string with_texts(std::string_view markdown, std::span<const std::string> texts);

}  // namespace headroom::lessons
