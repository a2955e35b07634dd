// Decomposes, orders and composes runs of characters.
#include "demos/tokens/normal_form.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "demos/record/file/csv.h"
#include "demos/tokens/utf8.h"
#include "unicode_csv.h"  // assets/unicode, by CMake

namespace headroom::tokens {

namespace {

// Hangul syllables are composed arithmetically of leading, vowel and trailing letters (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr char32_t kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

struct Tables {
  std::unordered_map<char32_t, std::pair<char32_t, char32_t>> parts;  // if the second is 0, there is only one part
  std::unordered_map<std::uint64_t, char32_t> whole;                  // character, by its pair of parts
  std::unordered_map<char32_t, std::uint8_t> combining_class;
  std::vector<bool> moves = std::vector<bool>(0x110000);  // characters that may change, or change what precedes them
};

std::uint64_t key_of(char32_t first, char32_t second) { return std::uint64_t{first} << 32 | second; }

const Tables& tables() {
  static const Tables all = [] {
    Tables made;
    for (const record::CsvRow& row : record::csv_rows(kDecompositionsCsv, "assets/unicode/decompositions.csv")) {
      const auto number = [&](std::string_view column) { return static_cast<char32_t>(row.whole(column)); };
      const char32_t character = number("character"), first = number("first"), second = number("second");
      const bool back = number("composes") != 0;
      made.parts.emplace(character, std::pair(first, second));
      made.moves[back ? second : character] = true;
      if (back) made.whole.emplace(key_of(first, second), character);
    }
    for (const record::CsvRow& row : record::csv_rows(kCombiningClassesCsv, "assets/unicode/combining_classes.csv")) {
      for (std::int64_t c = row.whole("first"); c <= row.whole("last"); ++c) {
        made.combining_class.emplace(static_cast<char32_t>(c), static_cast<std::uint8_t>(row.whole("class")));
        made.moves[static_cast<std::size_t>(c)] = true;
      }
    }
    for (char32_t i = 0; i < kVowelCount; ++i) made.moves[kVowels + i] = true;
    for (char32_t i = 1; i < kTrailingCount; ++i) made.moves[kTrailing + i] = true;
    return made;
  }();
  return all;
}

int class_of(char32_t c) {
  const auto found = tables().combining_class.find(c);
  return found == tables().combining_class.end() ? 0 : found->second;
}

void decompose(char32_t c, std::u32string& into) {
  if (c >= kSyllables && c < kSyllables + kSyllableCount) {
    const char32_t index = c - kSyllables;
    into += kLeading + index / (kVowelCount * kTrailingCount);
    into += kVowels + index / kTrailingCount % kVowelCount;
    if (index % kTrailingCount != 0) into += kTrailing + index % kTrailingCount;
    return;
  }
  const auto parts = tables().parts.find(c);
  if (parts == tables().parts.end()) {
    into += c;
    return;
  }
  const auto [first, second] = parts->second;
  decompose(first, into);
  if (second != 0) decompose(second, into);
}

// The character that `first` and `second` compose; 0: none.
char32_t whole_of(char32_t first, char32_t second) {
  if (first >= kLeading && first < kLeading + kLeadingCount && second >= kVowels && second < kVowels + kVowelCount)
    return kSyllables + ((first - kLeading) * kVowelCount + (second - kVowels)) * kTrailingCount;
  if (first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTrailingCount == 0 &&
      second > kTrailing && second < kTrailing + kTrailingCount)
    return first + (second - kTrailing);
  const auto found = tables().whole.find(key_of(first, second));
  return found == tables().whole.end() ? 0 : found->second;
}

// Stable-sorts each run of marks (characters whose class is not 0) by class.
void order(std::u32string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    if (class_of(text[begin]) != 0) {
      while (end < text.size() && class_of(text[end]) != 0) ++end;
      std::stable_sort(text.begin() + static_cast<std::ptrdiff_t>(begin),
                       text.begin() + static_cast<std::ptrdiff_t>(end),
                       [](char32_t a, char32_t b) { return class_of(a) < class_of(b); });
    }
    begin = end;
  }
}

// Composes each character with the last one of class 0 before it, unless a mark of the same or a higher class is in
// between.
void compose(const std::u32string& text, std::string& into) {
  std::u32string done;
  std::size_t starter = std::u32string::npos;
  int last_class = 0;
  for (const char32_t c : text) {
    const int its_class = class_of(c);
    const bool adjacent = starter != std::u32string::npos && starter + 1 == done.size();
    const bool reached = starter != std::u32string::npos && (adjacent || last_class < its_class);
    if (const char32_t whole = reached ? whole_of(done[starter], c) : 0; whole != 0) {
      done[starter] = whole;
      continue;
    }
    if (its_class == 0) starter = done.size();
    last_class = its_class;
    done += c;
  }
  for (const char32_t c : done) append(into, c);
}

}  // namespace

bool surely_composed(std::string_view text) {
  // Below U+0300 (first byte 0xCC) nothing combines, and decomposed characters compose again.
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

std::string composed(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::u32string run;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    run.clear();
    const char32_t first = next_character(text, at);
    bool alone = !tables().moves[first];
    std::size_t end = at;
    for (std::size_t next = at; next < text.size(); end = next) {
      const char32_t c = next_character(text, next);
      if (!tables().moves[c]) break;
      if (run.empty()) decompose(first, run);
      decompose(c, run);
      alone = false;
    }
    if (alone) {
      result.append(text.substr(begin, end - begin));
    } else {
      if (run.empty()) decompose(first, run);
      order(run);
      compose(run, result);
    }
    at = end;
  }
  return result;
}

}  // namespace headroom::tokens
