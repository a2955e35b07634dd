// Checks values and lists keys.
#include "demos/configs/reading.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::configs {

namespace {

constexpr std::size_t kLongestValue = 60;

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kLongestValue) return record::printable(text);
  std::size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole characters of UTF-8
  return record::printable(text.substr(0, end)) + "…";
}

// The number in a value, also in a text such as "2e8".
std::optional<double> number_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_empty(const Json& value) { return value.is_null() || (value.is_structured() && value.empty()); }

}  // namespace

Reading::Reading(std::filesystem::path file) : file_(std::move(file)) { config.file = file_.string(); }

void Reading::section(const Json& object, const std::string& path, std::span<const Rule> rules,
                      std::string_view prefix) {
  for (const auto& [key, value] : object.items()) {
    const Item item{path.empty() ? record::printable(key) : path + "." + record::printable(key), value};
    if (is_empty(value)) continue;
    const std::string_view name =
        !prefix.empty() && key.starts_with(prefix) ? std::string_view(key).substr(prefix.size()) : key;
    const auto rule = std::ranges::find(rules, name, &Rule::key);
    if (rule == rules.end())
      unknown(item);
    else if (!rule->because.empty())
      ignore(item, rule->because);
    else if (!rule->section.empty() && !value.is_object())
      wrong(item, "an object in braces");
    else if (!rule->section.empty())
      section(value, item.path, rule->section);
    else if (value == "auto")
      automatic(item, rule->automatic.empty() ? "the training script decides; the default is taken" : rule->automatic);
    else
      rule->read(*this, item);
  }
}

std::optional<std::int64_t> Reading::whole(const Item& item, std::int64_t low, std::int64_t high) {
  const auto number = number_in(item.value);
  const bool fits = number && *number == std::floor(*number) && *number >= static_cast<double>(low) &&
                    *number <= static_cast<double>(high);
  if (fits) return static_cast<std::int64_t>(*number);
  wrong(item, fmt::format("a whole number from {} to {}", low, high));
  return std::nullopt;
}

std::optional<double> Reading::real(const Item& item, double low, double high) {
  const auto number = number_in(item.value);
  if (number && *number >= low && *number <= high) return *number;
  wrong(item, fmt::format("a number from {} to {}", low, high));
  return std::nullopt;
}

std::optional<bool> Reading::flag(const Item& item) {
  if (item.value.is_boolean()) return item.value.get<bool>();
  if (item.value.is_string()) {
    std::string text = item.value.get<std::string>();
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const std::string_view yes : {"true", "yes"})
      if (text == yes) return true;
    for (const std::string_view no : {"false", "no"})
      if (text == no) return false;
  }
  wrong(item, "true or false");
  return std::nullopt;
}

std::optional<std::string> Reading::word(const Item& item) {
  if (item.value.is_string()) return item.value.get<std::string>();
  wrong(item, "a word");
  return std::nullopt;
}

void Reading::means(const Item& item, std::string_view setting, std::string words) {
  const bool quoted = item.value.is_string() && config.framework == Framework::kDeepSpeed &&
                      (number_in(item.value) || item.value == "true" || item.value == "false");
  if (quoted && words.empty()) words = "in quotes it is a text: remove them";
  add(item, Fate::kRead, setting, std::move(words));
}

void Reading::ignore(const Item& item, std::string_view because) {
  add(item, Fate::kIgnored, {}, std::string(because));
}

void Reading::automatic(const Item& item, std::string_view words) {
  if (item.path.ends_with("16.enabled")) auto_precision = true;
  add(item, Fate::kAutomatic, {}, std::string(words));
}

void Reading::unknown(const Item& item) { add(item, Fate::kUnknown, {}, {}); }

void Reading::wrong(const Item& item, const std::string& suits) {
  fail(fmt::format("{}: {} is {}, but it must be {}.", config.file, item.path, shown(item.value), suits));
}

void Reading::fail(std::string message) {
  if (!error_) error_ = record::Error{std::move(message)};
}

void Reading::set(std::string_view key, std::string value, std::string_view from) {
  config.settings.push_back({std::string(key), std::move(value), std::string(from)});
}

void Reading::add(const Item& item, Fate fate, std::string_view setting, std::string words) {
  config.keys.push_back({item.path, shown(item.value), fate, std::string(setting), std::move(words)});
}

}  // namespace headroom::configs
