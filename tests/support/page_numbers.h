// Compares numbers in page texts with their sources.
#pragma once

#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "tests/support/catch.h"

namespace headroom::tests {

inline record::Recording stored(const std::string& name) {
  return record::Recording::read(HEADROOM_SOURCE_DIR "/assets/recordings/" + name + ".hrec").value();
}

// A stored run's peak of allocated bytes, in GiB.
inline double peak_of(const std::string& name) {
  return static_cast<double>(record::Ledger(stored(name)).peak().totals.allocated) / record::kGiB;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// A file's text with plain spaces and signs.
inline std::string plain_text(const std::string& file_name) {
  std::ifstream file(HEADROOM_SOURCE_DIR "/" + file_name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return replaced(replaced(text, "\u00a0", " "), "−", "-");
}

inline std::string text_of(const std::string& page) { return plain_text("assets/text/" + page + ".md"); }

// The number after `words`, which docs/results/`document` must contain once.
inline double result_after(const std::string& document, const std::string& words) {
  const std::string text = plain_text("docs/results/" + document + ".md");
  const std::size_t at = text.find(words);
  INFO(document << ": " << words);
  REQUIRE(at != std::string::npos);
  CHECK(text.find(words, at + 1) == std::string::npos);
  const std::size_t begin = text.find_first_of("0123456789", at + words.size());
  return std::stod(replaced(text.substr(begin, text.find_first_not_of("0123456789,.", begin) - begin), ",", ""));
}

// Checks that the page contains `words`, with `values` as their numbers, rounded to the last digit.
inline void check_said(const std::string& page, const std::string& words, const std::vector<double>& values) {
  INFO(page << ": " << words);
  CHECK(text_of(page).find(words) != std::string::npos);
  static const std::regex number(R"([-+]?\d[\d,]*(\.\d+)?)");
  std::size_t i = 0;
  for (std::sregex_iterator at(words.begin(), words.end(), number), end; at != end; ++at) {
    const auto before = static_cast<std::size_t>(at->position());
    if (before > 0 && std::isalpha(static_cast<unsigned char>(words[before - 1]))) continue;  // "bf16"
    REQUIRE(i < values.size());
    const std::string decimals = (*at)[1];
    const double unit = decimals.empty() ? 1 : std::pow(10, -static_cast<double>(decimals.size() - 1));
    CHECK(std::stod(replaced(at->str(), ",", "")) == Approx(values[i]).margin(0.501 * unit).epsilon(0));
    ++i;
  }
  CHECK(i == values.size());
}

}  // namespace headroom::tests
