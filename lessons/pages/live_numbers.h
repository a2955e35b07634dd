// Numbers and names in a page's words that follow what is looked at: `{logits.bytes}` is the value for the run on show, or for
// the settings where there is no run.
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
  const record::Ledger* baseline = nullptr;  // run A; null: nothing is compared
};

struct LiveNumber {
  std::string_view name;  // "logits.bytes"
  // With its unit; empty: not known, such as a peak without a run.
  std::string (*text)(const NumberInput& input);
};
std::span<const LiveNumber> live_numbers();
const LiveNumber* find_number(std::string_view name);  // null: unknown

// Where `{name}` is in a text. Formulas between $ have braces with another meaning.
struct NumberPlace {
  std::string name;
  std::size_t begin = 0, end = 0;  // of the braces, and behind them
};
std::vector<NumberPlace> numbers_in(std::string_view markdown);

// The text with its numbers put in. A sentence with one that is not known is left out.
std::string with_numbers(std::string_view markdown, const NumberInput& input);
// What the numbers say, in their order; empty: not known.
std::vector<std::string> number_texts(std::string_view markdown, const NumberInput& input);
// The whole text with these, an ellipsis for what is empty or lacking.
std::string with_texts(std::string_view markdown, std::span<const std::string> texts);

}  // namespace headroom::lessons
