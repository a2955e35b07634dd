#include "lessons/axes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::lessons {

double part_of(const Axis& axis, double value) {
  if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
  return std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low);
}

double value_at(const Axis& axis, double part) {
  if (!axis.logarithmic) return axis.low + part * (axis.high - axis.low);
  return axis.low * std::pow(axis.high / axis.low, part);
}

double round_up_bytes(double bytes) {
  double unit = 1;
  while (unit < static_cast<double>(record::kGiB) && bytes >= 2048 * unit) unit *= 1024;
  const double value = bytes / unit;
  const double step = value <= 10 ? 1 : value <= 50 ? 2 : value <= 120 ? 4 : value <= 500 ? 16 : 64;
  return std::max(1.0, std::ceil(value / step - 1e-9)) * step * unit;
}

double room_for_bytes(double bytes) {
  double power = 1;
  while (power * 2 <= bytes) power *= 2;
  return power >= bytes ? power : 1.5 * power >= bytes ? 1.5 * power : 2 * power;
}

double room_to_grow(double position) {
  const double wanted = std::max(position * 1.15, 1.0);
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= wanted) return factor * power;
  }
  return 10 * power;
}

void make_room(Axis& axis, double value) {
  if (value <= axis.high) return;
  if (axis.logarithmic)
    axis.high = std::pow(10, std::ceil(std::log10(value)));
  else
    axis.high = axis.unit == AxisUnit::kBytes ? round_up_bytes(value) : std::ceil(value);
}

ByteUnit byte_unit(double axis_high) {
  const auto in = [](record::Bytes bytes) { return static_cast<double>(bytes); };
  if (axis_high >= 1024 * in(record::kGiB)) return {"TiB", 1024 * in(record::kGiB)};
  if (axis_high >= 2 * in(record::kGiB)) return {"GiB", in(record::kGiB)};
  if (axis_high >= 2 * in(record::kMiB)) return {"MiB", in(record::kMiB)};
  if (axis_high >= 2 * in(record::kKiB)) return {"KiB", in(record::kKiB)};
  return {"B", 1};
}

std::string in_unit(double bytes, const ByteUnit& unit, int decimals) {
  std::string text = fmt::format("{:.{}f}", bytes / unit.bytes, unit.bytes > 1 ? decimals : 0);
  const std::size_t whole = std::min(text.find('.'), text.size());
  for (std::size_t at = whole; at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

}  // namespace headroom::lessons
