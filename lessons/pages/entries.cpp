// Takes "key: value" lines.
#include "lessons/pages/entries.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::lessons {

std::string Entries::take(std::string_view key) {
  known_.push_back(key);
  at_ = line_;
  std::string value;
  bool found = false;
  for (const Entry& entry : entries_) {
    if (entry.key != key) continue;
    at_ = entry.line;
    if (found) complain(fmt::format("{} has {} twice.", place_, key));
    value = entry.value;
    found = true;
  }
  return value;
}

std::string Entries::need(std::string_view key) {
  std::string value = take(key);
  if (value.empty()) complain(fmt::format("{} lacks a line \"{}: …\".", place_, key));
  return value;
}

std::vector<Setting> Entries::take_settings(std::string_view key) {
  std::vector<Setting> settings;
  for (const std::string& word : take_words(key)) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos)
      complain(fmt::format("{} takes KEY=VALUE, not {}.", key, record::quoted(word)));
    else
      settings.push_back({word.substr(0, sign), word.substr(sign + 1)});
  }
  return settings;
}

void Entries::end() {
  for (const Entry& entry : entries_) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    at_ = entry.line;
    complain(fmt::format("{} has no key {}: the nearest is {}.", place_, record::quoted(entry.key),
                         record::nearest(entry.key, known_)));
  }
}

}  // namespace headroom::lessons
