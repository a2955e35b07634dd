// Compares the words of names.
#include "demos/predict/cards/card_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "demos/record/text.h"

namespace headroom::predict {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kOfAnyCard{"nvidia", "tesla", "gpu", "card", "graphics", "tensor", "core"};
// Words that never distinguish two cards.
constexpr std::array<std::string_view, 10> kOptional{"nvidia", "geforce",    "tesla",   "quadro",      "rtx",
                                                     "gtx",    "generation", "edition", "workstation", "blackwell"};
constexpr std::array<std::string_view, 2> kForms{"sxm", "pcie"};

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// "NVIDIA A100-SXM4-80GB" → nvidia, a100, sxm, 80gb. Drops SXM's version and words such as "HBM3".
Words words_of(std::string_view text) {
  Words words;
  bool inside = false;
  for (const char c : lowered(text)) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (part && !inside) words.emplace_back();
    if (part) words.back() += c;
    inside = part;
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool size = std::ranges::all_of(words[i], is_digit) && (words[i + 1] == "gb" || words[i + 1] == "gib");
    const bool form = words[i] == "pci" && words[i + 1] == "e";
    if (!size && !form) continue;
    words[i] += words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  for (std::string& word : words)
    if (word.starts_with("sxm")) word = "sxm";
  std::erase_if(words, [](const std::string& word) { return word.starts_with("hbm"); });
  return words;
}

// Gigabytes: 80 in "80gb", "80g" and "80". A bare number of more than three digits is a model.
std::optional<double> size_in(std::string_view word) {
  double size = 0;
  const auto [rest, wrong] = std::from_chars(word.data(), word.data() + word.size(), size, std::chars_format::fixed);
  const std::string_view unit(rest, word.data() + word.size());
  const bool known = unit == "gb" || unit == "gib" || unit == "g" || (unit.empty() && word.size() <= 3);
  return wrong == std::errc() && known ? std::optional(size) : std::nullopt;
}

// Nominal sizes are up to 8 % above what drivers report.
bool is_size_of(const Card& card, double size) {
  constexpr double kMost = 1.08;
  const double memory = static_cast<double>(card.memory.value_or(0)) / static_cast<double>(record::kGiB);
  return memory <= size && size <= kMost * memory;
}

// A card's words, and those of them that a text must contain.
struct CardWords {
  Words all, needed;

  explicit CardWords(const Card& card) : all(words_of(card.name)) {
    for (const std::string& word : all)
      if (!is_among(word, kOptional) && !is_among(word, kForms) && !size_in(word)) needed.push_back(word);
    const bool any_form = std::ranges::none_of(all, [](const std::string& word) { return is_among(word, kForms); });
    std::erase_if(all, [](const std::string& word) { return size_in(word).has_value(); });
    // Keep sizes in the driver's name: "480GB" in "GH200 480GB" is the host's memory.
    for (std::string& word : words_of(card.driver_name)) all.push_back(std::move(word));
    if (any_form) all.insert(all.end(), kForms.begin(), kForms.end());
  }

  // True if `text` consists of this card's words and size: "rtx4060ti16gb". Appends the words to `said`.
  bool covers(const Card& card, std::string_view text, Words& said) const {
    if (text.empty()) return true;
    if (const auto size = size_in(text); size && is_size_of(card, *size) && !said.empty()) return true;
    for (const std::string& word : all) {
      if (!text.starts_with(word)) continue;
      said.push_back(word);
      if (covers(card, text.substr(word.size()), said)) return true;
      said.pop_back();
    }
    return false;
  }
};

bool names(const Words& wanted, const Card& card) {
  if (!card.memory) return false;
  const CardWords words(card);
  Words said;
  for (const std::string& word : wanted) {
    if (is_among(word, kOfAnyCard) || words.covers(card, word, said)) continue;
    const auto size = size_in(word);
    if (!size || !is_size_of(card, *size)) return false;
  }
  return std::ranges::all_of(words.needed,
                             [&](const std::string& word) { return std::ranges::find(said, word) != said.end(); });
}

// Distinguishing words: "3090", "ti".
Words telling(std::string_view name) {
  Words words = words_of(name);
  std::erase_if(words, [](const std::string& word) {
    return is_among(word, kOptional) || is_among(word, kOfAnyCard) || is_among(word, kForms) || size_in(word);
  });
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

// Ranks cards if none matches the wanted words: by the words that a card lacks (earlier ones count more), then by edit
// distance.
struct Nearness {
  std::vector<bool> lacks;
  std::size_t distance = 0;

  Nearness(const Words& wanted, const Card& card)
      : distance(record::edit_distance(joined(wanted), joined(telling(card.name)))) {
    const CardWords words(card);
    Words said;
    for (const std::string& word : wanted) lacks.push_back(!words.covers(card, word, said));
  }
  bool has_one() const { return std::ranges::find(lacks, false) != lacks.end(); }
  auto operator<=>(const Nearness&) const = default;
};

}  // namespace

std::vector<const Card*> find_cards(std::string_view words) {
  const std::string wanted = lowered(words);
  const Words apart = words_of(words);
  std::vector<const Card*> by_driver, found;
  for (const Card& card : cards()) {
    if (lowered(card.name) == wanted) return {&card};
    if (!wanted.empty() && lowered(card.driver_name) == wanted) by_driver.push_back(&card);
    if (names(apart, card)) found.push_back(&card);
  }
  return by_driver.empty() ? found : by_driver;
}

std::vector<const Card*> nearest_cards(std::string_view words) {
  constexpr std::size_t kMost = 3, kLongest = 64;
  const Words wanted = telling(words.substr(0, kLongest));
  std::vector<std::pair<Nearness, const Card*>> near;
  for (const Card& card : cards())
    if (card.memory) near.emplace_back(Nearness(wanted, card), &card);
  std::ranges::stable_sort(near, {}, &std::pair<Nearness, const Card*>::first);
  const Nearness& best = near.front().first;
  std::vector<const Card*> found;
  for (const auto& [nearness, card] : near)
    if (found.size() < kMost && (best.has_one() ? nearness.has_one() : nearness.distance <= best.distance + 1))
      found.push_back(card);
  return found;
}

}  // namespace headroom::predict
