#include "lessons/shown_unit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace headroom::lessons {
namespace {

using record::Bytes;

// The largest unit of which `largest` has at least two.
template <std::size_t kCount>
ShownUnit largest_within(const ShownUnit (&units)[kCount], double largest) {
  const auto* const fits =
      std::find_if(std::begin(units), std::end(units) - 1, [&](const ShownUnit& u) { return largest >= 2 * u.size; });
  return *fits;
}

constexpr ShownUnit kBytes[] = {{"GiB", static_cast<double>(record::kGiB)}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}};
constexpr ShownUnit kTimes[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}};
constexpr ShownUnit kRates[] = {{"TB/s", 1e12}, {"GB/s", 1e9}};
constexpr ShownUnit kSpeeds[] = {{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}};
constexpr int kBytesDecimals = 2;
constexpr double kTiB = 0x1p40;  // used from 1 TiB on, because cards have less

std::string with_commas(std::string text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0, whole = std::min(text.find('.'), text.size());
  for (std::size_t at = whole; at > first + 3; at -= 3) text.insert(at - 3, 1, ',');
  if (first == 1) text.replace(0, 1, "−");
  return text;
}

std::string with_name(std::string number, const ShownUnit& unit) {
  return unit.name.empty() ? number : std::move(number) + " " + std::string(unit.name);
}

std::string without_zeros(std::string text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t end = text.find(' ', point);
  std::size_t keep = end;
  while (keep > point && (text[keep - 1] == '0' || text[keep - 1] == '.')) --keep;
  return text.erase(keep, end - keep);
}

}  // namespace

ShownUnit byte_unit(double largest) {
  return largest >= kTiB ? ShownUnit{"TiB", kTiB} : largest_within(kBytes, largest);
}
ShownUnit time_unit(double largest) { return largest_within(kTimes, largest); }
ShownUnit rate_unit(double largest) { return largest_within(kRates, largest); }

ShownUnit unit_for(AxisUnit quantity, double largest) {
  switch (quantity) {
    case AxisUnit::kBytes:
      return byte_unit(largest);
    case AxisUnit::kNanoseconds:
      return time_unit(largest);
    case AxisUnit::kBytesPerSecond:
      return rate_unit(largest);
    case AxisUnit::kFlopsPerSecond:
      return largest_within(kSpeeds, largest);
    case AxisUnit::kFlopsPerByte:
      return {"FLOP/B", 1};
    case AxisUnit::kPercent:
      return {"%", 1};
    case AxisUnit::kNumber:
      return largest >= 1e-3   ? ShownUnit{}
             : largest >= 1e-6 ? ShownUnit{"millionths", 1e-6}
                               : ShownUnit{"billionths", 1e-9};
    case AxisUnit::kEvents:
    case AxisUnit::kSteps:
    case AxisUnit::kCategory:
      break;
  }
  return {};
}

ShownUnit unit_of(const Axis& axis) {
  if (axis.shown) return *axis.shown;
  // A range late in a run has the unit of its length.
  if (axis.unit == AxisUnit::kNanoseconds && !axis.logarithmic) return time_unit(axis.high - axis.low);
  return unit_for(axis.unit, std::max(std::abs(axis.low), std::abs(axis.high)));
}

std::string in_unit(double value, const ShownUnit& unit, int decimals) {
  const bool whole = unit.name == "B";
  return with_commas(fmt::format("{:.{}f}", value / unit.size, whole ? 0 : decimals));
}

std::string in_unit(double value, const ShownUnit& unit) {
  const double size = std::abs(value) / unit.size;
  const int decimals = size == 0 || size >= 99.95 ? 0
                       : size >= 9.995            ? 1
                       : size >= 0.9995           ? 2
                       : size >= 0.09995          ? 3
                                                  : 4;
  return in_unit(value, unit, decimals);
}

std::string bytes_text(Bytes bytes, const ShownUnit& unit, int decimals) {
  const auto is_less_than_digit = [&](int digit) {
    return static_cast<double>(std::abs(bytes)) < 0.5 * std::pow(10, -digit) * unit.size;
  };
  if (is_less_than_digit(kBytesDecimals)) return record::format_count(bytes) + " B";
  const int shown = is_less_than_digit(decimals) ? kBytesDecimals : decimals;
  return with_name(in_unit(static_cast<double>(bytes), unit, shown), unit);
}

std::string short_bytes(Bytes bytes) { return without_zeros(record::format_bytes(bytes)); }

std::string short_bytes(Bytes bytes, const ShownUnit& unit) { return without_zeros(bytes_text(bytes, unit)); }

std::string change_text(Bytes bytes, const ShownUnit& unit) { return (bytes > 0 ? "+" : "") + bytes_text(bytes, unit); }

std::string amount_text(double value, const ShownUnit& unit) { return with_name(in_unit(value, unit), unit); }

}  // namespace headroom::lessons
