// Compares printed numbers with their sources.
#pragma once

#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/run_recordings.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

namespace headroom::tests {

inline record::Recording stored(const std::string& name) {
  return record::Recording::read(HEADROOM_SOURCE_DIR "/assets/recordings/" + name + ".hrec").value();
}

// The same with the other ranks of the run.
inline record::Recording stored_ranks(const std::string& name) {
  return record::RunRecordings::read(HEADROOM_SOURCE_DIR "/assets/recordings/" + name + ".hrec").value().joined();
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

// Checks that the text of a stored number is a single number: `value`, rounded to the text's last digit.
inline void check_number(std::string_view name, double value) {
  const auto found = course().numbers().find(name);
  const std::string text = found == course().numbers().end() ? "" : replaced(found->second.text, "−", "-");
  INFO(name << ": " << text);
  static const std::regex number(R"(([-+]?\d[\d,]*(?:\.(\d+))?)\D*)");
  std::smatch parts;
  const bool one_number = std::regex_match(text, parts, number);
  CHECK(one_number);
  if (!one_number) return;
  const double unit = std::pow(10, -static_cast<double>(parts.length(2)));
  CHECK(std::stod(replaced(parts[1], ",", "")) == Approx(value).margin(0.501 * unit).epsilon(0));
}

}  // namespace headroom::tests
