// Parses, checks and formats parameter values.
#include "demos/record/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/record/find.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

// A missing key is a bug.
const ParamSpec& spec_of(Schema schema, std::string_view key) {
  if (const ParamSpec* const spec = find_spec(schema, key)) return *spec;
  throw std::out_of_range("no parameter " + std::string(key));
}

ParamValue default_of(const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::kInteger:
    case ParamKind::kBytes:
      return static_cast<std::int64_t>(spec.default_number);
    case ParamKind::kReal:
      return spec.default_number;
    case ParamKind::kSwitch:
      return spec.default_number != 0;
    case ParamKind::kChoice:
    case ParamKind::kFile:
      return std::string(spec.default_text);
  }
  throw std::logic_error("kind of parameter");
}

// The shortest exact form: "24GiB", "512MiB", "4KiB" or "1023".
std::string bytes_as_typed(Bytes bytes) {
  if (bytes != 0 && bytes % kGiB == 0) return fmt::format("{}GiB", bytes / kGiB);
  if (bytes != 0 && bytes % kMiB == 0) return fmt::format("{}MiB", bytes / kMiB);
  if (bytes != 0 && bytes % kKiB == 0) return fmt::format("{}KiB", bytes / kKiB);
  return fmt::format("{}", bytes);
}

std::string value_as_typed(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.kind) {
    case ParamKind::kInteger:
      return fmt::format("{}", std::get<std::int64_t>(value));
    case ParamKind::kBytes:
      return bytes_as_typed(std::get<std::int64_t>(value));
    case ParamKind::kReal:
      return fmt::format("{}", std::get<double>(value));  // shortest text that reads back the same
    case ParamKind::kSwitch:
      return std::get<bool>(value) ? "on" : "off";
    case ParamKind::kChoice:
    case ParamKind::kFile:
      return std::get<std::string>(value);
  }
  throw std::logic_error("kind of parameter");
}

// "Batch must be a whole number from 1 to 1024."
std::string what_it_takes(const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::kInteger:
      return fmt::format("{} must be a whole number from {:.0f} to {:.0f}.", spec.label, spec.minimum, spec.maximum);
    case ParamKind::kReal:
      return fmt::format("{} must be a number from {:g} to {:g}.", spec.label, spec.minimum, spec.maximum);
    case ParamKind::kBytes:
      return fmt::format("{} must be a size from {} to {}, such as 24GiB or 512MiB{}.", spec.label,
                         bytes_as_typed(static_cast<Bytes>(spec.minimum)),
                         bytes_as_typed(static_cast<Bytes>(spec.maximum)),
                         spec.default_number == 0 ? "; 0 is none" : "");
    case ParamKind::kSwitch:
      return fmt::format("{} must be on or off.", spec.label);
    case ParamKind::kChoice: {
      std::vector<std::string_view> keys;
      for (const Choice& choice : spec.choices) keys.push_back(choice.key);
      return fmt::format("{} must be one of {}.", spec.label, fmt::join(keys, ", "));
    }
    case ParamKind::kFile:
      return fmt::format("{} must be the path of a file.", spec.label);
  }
  throw std::logic_error("kind of parameter");
}

Error refused(const ParamSpec& spec, std::string_view shown_value) {
  return {fmt::format("{}={}: {}", spec.key, printable(shown_value.substr(0, 200)), what_it_takes(spec))};
}

Error unknown_key(Schema schema, std::string_view key) {
  std::vector<std::string_view> keys;
  for (const ParamSpec& spec : schema) keys.push_back(spec.key);
  if (keys.empty()) return {fmt::format("There is no parameter {}: this has no parameters.", quoted(key))};
  return {fmt::format("There is no parameter {}; the nearest is {}.", quoted(key), quoted(nearest(key, keys)))};
}

bool in_range(const ParamSpec& spec, double value) { return value >= spec.minimum && value <= spec.maximum; }

bool fits(const ParamSpec& spec, const ParamValue& value) {
  switch (spec.kind) {
    case ParamKind::kInteger: {
      const auto* const number = std::get_if<std::int64_t>(&value);
      return number != nullptr && in_range(spec, static_cast<double>(*number));
    }
    case ParamKind::kBytes: {
      const auto* const bytes = std::get_if<std::int64_t>(&value);
      const bool none = bytes != nullptr && *bytes == 0 && spec.default_number == 0;
      return bytes != nullptr && (none || in_range(spec, static_cast<double>(*bytes)));
    }
    case ParamKind::kReal: {
      const auto* const number = std::get_if<double>(&value);
      return number != nullptr && in_range(spec, *number);  // false for NaN
    }
    case ParamKind::kSwitch:
      return std::holds_alternative<bool>(value);
    case ParamKind::kChoice: {
      const auto* const key = std::get_if<std::string>(&value);
      return key != nullptr && find_in(spec.choices, *key, &Choice::key) != nullptr;
    }
    case ParamKind::kFile: {
      const auto* const path = std::get_if<std::string>(&value);
      return path != nullptr && path->find('\0') == std::string::npos;
    }
  }
  throw std::logic_error("kind of parameter");
}

template <class Number>
std::optional<ParamValue> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

std::optional<ParamValue> parse(const ParamSpec& spec, std::string_view text) {
  switch (spec.kind) {
    case ParamKind::kInteger:
      return parse_number<std::int64_t>(text);
    case ParamKind::kReal:
      return parse_number<double>(text);
    case ParamKind::kBytes: {
      const Result<Bytes> bytes = parse_bytes(text);
      return bytes ? std::optional<ParamValue>(bytes.value()) : std::nullopt;
    }
    case ParamKind::kSwitch:
      return text == "on"    ? std::optional<ParamValue>(true)
             : text == "off" ? std::optional<ParamValue>(false)
                             : std::nullopt;
    case ParamKind::kChoice:
    case ParamKind::kFile:
      return std::string(text);
  }
  throw std::logic_error("kind of parameter");
}

std::string shown(const ParamValue& value) {
  return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
}

}  // namespace

const ParamSpec* find_spec(Schema schema, std::string_view key) { return find_in(schema, key, &ParamSpec::key); }

std::span<const Choice> choices_of(const ParamSpec& spec) {
  static constexpr std::array kOffOn{Choice{"off", "off"}, Choice{"on", "on"}};
  if (spec.kind == ParamKind::kSwitch && spec.choices.empty()) return kOffOn;
  return spec.choices;
}

std::string_view label_of(const ParamSpec& spec, std::string_view value) {
  const Choice* const found = find_in(choices_of(spec), value, &Choice::key);
  return found == nullptr ? value : found->label;
}

bool is_one_of(std::string_view value, std::string_view alternatives) {
  while (true) {
    const std::size_t bar = alternatives.find('|');
    if (alternatives.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    alternatives.remove_prefix(bar + 1);
  }
}

Params::Params(Schema schema) : schema_(schema) {
  values_.reserve(schema.size());
  for (const ParamSpec& spec : schema) values_.push_back(default_of(spec));
}

std::int64_t Params::integer(std::string_view key) const { return std::get<std::int64_t>(at(key)); }
double Params::real(std::string_view key) const { return std::get<double>(at(key)); }
bool Params::on(std::string_view key) const { return std::get<bool>(at(key)); }
const std::string& Params::text(std::string_view key) const { return std::get<std::string>(at(key)); }
bool Params::has(std::string_view key) const { return find_spec(schema_, key) != nullptr; }

const ParamValue& Params::at(const ParamSpec& spec) const {
  return values_[static_cast<std::size_t>(&spec - schema_.data())];
}
const ParamValue& Params::at(std::string_view key) const { return at(spec_of(schema_, key)); }

bool Params::in_use(std::string_view key) const { return in_use(spec_of(schema_, key)); }

bool Params::in_use(const ParamSpec& spec) const {
  if (overruled(spec)) return false;
  if (spec.needs_key.empty()) return true;
  const ParamSpec& needed = spec_of(schema_, spec.needs_key);
  return in_use(needed) && is_one_of(value_as_typed(needed, at(needed)), spec.needs_value);
}

bool Params::overruled(std::string_view key) const {
  const ParamSpec* const spec = find_spec(schema_, key);
  return spec != nullptr && overruled(*spec);
}

bool Params::overruled(const ParamSpec& spec) const {
  return !spec.unless_key.empty() && !text(spec.unless_key).empty();
}

bool Params::operator==(const Params& other) const {
  return values_ == other.values_ && std::ranges::equal(schema_, other.schema_, {}, &ParamSpec::key, &ParamSpec::key);
}

Status Params::set(std::string_view key, std::string_view value_text) {
  const ParamSpec* const spec = find_spec(schema_, key);
  if (spec == nullptr) return unknown_key(schema_, key);
  const std::optional<ParamValue> value = parse(*spec, value_text);
  if (!value || !fits(*spec, *value)) return refused(*spec, value_text);
  values_[static_cast<std::size_t>(spec - schema_.data())] = *value;
  return Ok{};
}

Status Params::set(std::string_view key, const ParamValue& value) {
  const ParamSpec* const spec = find_spec(schema_, key);
  if (spec == nullptr) return unknown_key(schema_, key);
  ParamValue checked = value;
  if (const auto* const whole = std::get_if<std::int64_t>(&value); whole != nullptr && spec->kind == ParamKind::kReal)
    checked = static_cast<double>(*whole);  // JSON and MessagePack write 1.0 as 1
  if (!fits(*spec, checked)) return refused(*spec, shown(value));
  values_[static_cast<std::size_t>(spec - schema_.data())] = std::move(checked);
  return Ok{};
}

Status Params::set_assignment(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    return Error{quoted(assignment) + " sets nothing; write key=value, such as " +
                 (schema_.empty() ? "batch=4" : std::string(schema_[0].key) + "=" + as_text(schema_[0].key)) + "."};
  return set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::string Params::as_text(std::string_view key) const {
  const ParamSpec& spec = spec_of(schema_, key);
  return value_as_typed(spec, at(spec));
}

std::map<std::string, std::string> Params::to_map() const {
  std::map<std::string, std::string> map;
  for (const ParamSpec& spec : schema_) map.emplace(spec.key, as_text(spec.key));
  return map;
}

Result<Params> Params::from_map(Schema schema, const std::map<std::string, std::string>& map) {
  Params params(schema);
  for (const auto& [key, text] : map)
    if (Status status = params.set(key, std::string_view(text)); !status) return status.error();
  return params;
}

Params Params::known_of(Schema schema, const std::map<std::string, std::string>& map) {
  Params params(schema);
  for (const auto& [key, text] : map)
    if (params.has(key)) (void)params.set(key, std::string_view(text));
  return params;
}

std::vector<std::string> Params::unknown_in(Schema schema, const std::map<std::string, std::string>& map) {
  std::vector<std::string> unknown;
  Params params(schema);
  for (const auto& [key, text] : map) {
    const ParamSpec* const spec = find_spec(schema, key);
    if (spec != nullptr && (spec->role == ParamRole::kRun || params.set(key, std::string_view(text)))) continue;
    unknown.push_back(printable(key) + "=" + printable(text));
  }
  return unknown;
}

}  // namespace headroom::record
