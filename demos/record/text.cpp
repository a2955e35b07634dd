// Quoting, UTF-8 and edit distance.
#include "demos/record/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <numeric>
#include <vector>

namespace headroom::record {
namespace {

// Length of the character at `at`; 0 if invalid (RFC 3629: shortest form, no surrogates).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool shortest = lead != 0xe0 || byte(1) >= 0xa0;
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    return continues(1) && continues(2) && shortest && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool in_range = (lead != 0xf0 || byte(1) >= 0x90) && (lead != 0xf4 || byte(1) < 0x90);
    return continues(1) && continues(2) && continues(3) && in_range ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto first = static_cast<unsigned char>(text[at]);
    if (length == 0 || first < 0x20 || first == 0x7f)
      out += '?';
    else
      out += text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string in_lower_case(std::string_view label) {
  std::string text(label);
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const std::string_view word = label.substr(0, label.find(' '));
  if (!word.empty() && std::none_of(word.begin() + 1, word.end(), upper))
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() <= kLongest) return "\"" + printable(text) + "\"";
  std::size_t cut = kLongest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) --cut;  // not within a character
  return "\"" + printable(text.substr(0, cut)) + "…\"";
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string result(text);
  if (!valid_utf8(text))
    std::ranges::replace_if(
        result, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return result;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // row[j]: distance of a's first i and b's first j bytes
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  text = text.substr(0, 64);        // the distance is quadratic, and longer texts match nothing
  constexpr std::size_t kWord = 3;  // shorter words occur in too many candidates
  if (text.size() >= kWord)
    for (const std::string_view candidate : candidates)
      if (candidate.find(text) != std::string_view::npos) return candidate;
  const auto distance = [&](std::string_view candidate) { return edit_distance(text, candidate); };
  const auto best = std::ranges::min_element(candidates, {}, distance);
  return best == candidates.end() ? std::string_view() : *best;
}

}  // namespace headroom::record
