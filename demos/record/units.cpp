// Names memory categories; formats and parses numbers.
#include "demos/record/units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::record {
namespace {

constexpr std::string_view kMinus = "\u2212";

template <class Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));  // throws if out of range, which is a bug
}

std::string with_commas(std::string digits) {
  const std::size_t whole = std::min(digits.find('.'), digits.size());
  for (std::size_t at = whole; at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;  // correct for the lowest int64, which has no negative
}

std::string signed_text(bool negative, std::string text) { return negative ? std::string(kMinus) + text : text; }

struct Step {
  double size;
  std::string_view unit;
};

// Doubles represent all integers below 2^53; converts NaN to 0 and clamps other values before the cast.
std::int64_t to_integer(double value) {
  constexpr double kLimit = 9.2e18;
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::llround(std::clamp(value, -kLimit, kLimit)));
}

// Three significant digits: 1.26, 37.7, 850.
int decimals_for_three_digits(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

std::string format_value(double value, Unit unit) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return signed_text(value < 0, "∞");
  switch (unit) {
    case Unit::kBytes:
      return format_bytes(to_integer(value));
    case Unit::kNanoseconds:
      return format_duration(to_integer(value));
    case Unit::kTokensPerSecond:
      return format_count(to_integer(value)) + " tokens/s";
    case Unit::kCount:
      return format_count(to_integer(value));
    case Unit::kNone:
      return signed_text(std::signbit(value), with_commas(fmt::format("{:.4g}", std::abs(value))));
  }
  throw std::logic_error("unit");
}

struct ByteUnit {
  std::string_view name;
  Bytes size;
};
constexpr ByteUnit kByteUnits[] = {
    {"", 1},
    {"b", 1},
    {"kib", kKiB},
    {"mib", kMiB},
    {"gib", kGiB},
    {"tib", kGiB << 10},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
};

std::optional<Bytes> byte_unit(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const ByteUnit& unit : kByteUnits)
    if (unit.name == lower) return unit.size;
  return std::nullopt;
}

Error not_a_size(std::string_view text) {
  return {quoted(text) + " is not a size; write a number and a unit, such as 24GiB, 512MiB or 1024."};
}

Error too_large(std::string_view text) { return {quoted(text) + " is too large; write a smaller size."}; }

}  // namespace

Bytes total(const ByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), Bytes{0}); }

std::string_view key_of(Category category) {
  static constexpr std::array<std::string_view, kNumCategories> kKeys = {
      "weights", "optimizer_state", "gradients", "activations", "logits", "workspace", "other"};
  return name_in(kKeys, category);
}

std::string_view key_of(Phase phase) {
  static constexpr std::array<std::string_view, kNumPhases> kKeys = {"setup",    "forward",   "loss",   "recompute",
                                                                     "backward", "optimizer", "copies", "evaluation"};
  return name_in(kKeys, phase);
}

std::string_view key_of(DeviceKind device) {
  static constexpr std::array<std::string_view, 3> kKeys = {"cpu", "gpu", "host"};
  return name_in(kKeys, device);
}

std::string_view setting_of(DeviceKind device) { return device == DeviceKind::kGpu ? "cuda" : "cpu"; }

bool names_gpu(std::string_view device_setting) { return device_setting == setting_of(DeviceKind::kGpu); }

std::string_view key_of(Source source) {
  static constexpr std::array<std::string_view, 4> kKeys = {"formula", "predicted", "recorded", "live"};
  return name_in(kKeys, source);
}

std::string_view label_of(Category category) {
  static constexpr std::array<std::string_view, kNumCategories> kLabels = {
      "weights", "optimizer state", "gradients", "activations", "logits and loss", "workspace", "other"};
  return name_in(kLabels, category);
}

std::string_view label_of(Phase phase) {
  static constexpr std::array<std::string_view, kNumPhases> kLabels = {"set-up",   "forward",   "loss",   "recompute",
                                                                       "backward", "optimizer", "copies", "evaluation"};
  return name_in(kLabels, phase);
}

std::string format_bytes(Bytes bytes, int decimals) {
  const std::uint64_t size = magnitude(bytes);
  if (size < static_cast<std::uint64_t>(kKiB)) return signed_text(bytes < 0, fmt::format("{} B", size));
  static constexpr Step kSteps[] = {{0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
  const double half_a_digit = 0.5 * std::pow(10.0, -decimals);
  for (const Step& step : kSteps) {
    const double value = static_cast<double>(size) / step.size;
    // 1,023.999 MiB rounds to the next unit: 1.00 GiB.
    if (value + half_a_digit < 1024 || &step == std::end(kSteps) - 1)
      return signed_text(bytes < 0,
                         with_commas(fmt::format("{:.{}f}", value, decimals)) + " " + std::string(step.unit));
  }
  throw std::logic_error("unit of bytes");
}

std::string format_duration(Nanoseconds duration) {
  const auto size = static_cast<double>(magnitude(duration));
  if (size < 1e3) return signed_text(duration < 0, fmt::format("{:.0f} ns", size));
  static constexpr Step kSteps[] = {{1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}};
  for (const Step& step : kSteps) {
    const double value = size / step.size;
    if (value < 999.5 || &step == std::end(kSteps) - 1) {
      const int decimals = decimals_for_three_digits(value);
      return signed_text(duration < 0,
                         with_commas(fmt::format("{:.{}f}", value, decimals)) + " " + std::string(step.unit));
    }
  }
  throw std::logic_error("unit of time");
}

std::string format_count(std::int64_t count) {
  return signed_text(count < 0, with_commas(fmt::format("{}", magnitude(count))));
}

std::string format(const Quantity& quantity) {
  std::string text = format_value(quantity.value, quantity.unit);
  if (quantity.low && quantity.high)
    text += fmt::format(" ({} to {}, n = {})", format_value(*quantity.low, quantity.unit),
                        format_value(*quantity.high, quantity.unit), quantity.samples);
  return text;
}

Result<Bytes> parse_bytes(std::string_view text) {
  std::size_t digits = text.find_first_not_of("0123456789.");
  digits = std::min(digits, text.size());
  const std::string_view number = text.substr(0, digits);
  std::string_view unit_name = text.substr(digits);
  if (unit_name.starts_with(' ')) unit_name.remove_prefix(1);
  const std::optional<Bytes> unit = byte_unit(unit_name);
  if (number.empty() || !unit || (unit_name.empty() && digits != text.size())) {
    const bool one_minus = text.starts_with('-') && !text.starts_with("--");
    if (one_minus && parse_bytes(text.substr(1)).ok())
      return Error{quoted(text) + " is negative; a size must be 0 or more."};
    return not_a_size(text);
  }

  const char* const end = number.data() + number.size();
  std::uint64_t whole = 0;
  if (const auto parsed = std::from_chars(number.data(), end, whole); parsed.ptr == end) {
    Bytes bytes = 0;
    if (parsed.ec != std::errc{} || whole > static_cast<std::uint64_t>(std::numeric_limits<Bytes>::max()) ||
        __builtin_mul_overflow(static_cast<Bytes>(whole), *unit, &bytes))
      return too_large(text);
    return bytes;
  }
  double real = 0;
  const auto parsed = std::from_chars(number.data(), end, real, std::chars_format::fixed);
  if (parsed.ptr != end || parsed.ec != std::errc{} || *unit == 1) return not_a_size(text);  // no fractions of a byte
  const double bytes = real * static_cast<double>(*unit);
  if (!(bytes < 0x1p63)) return too_large(text);
  return static_cast<Bytes>(std::llround(bytes));
}

}  // namespace headroom::record
