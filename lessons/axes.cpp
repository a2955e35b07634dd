#include "lessons/axes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::lessons {

std::string_view key_of(AxisUnit unit) {
  constexpr std::array<std::string_view, 10> kKeys{"bytes",      "ns",      "events", "bytes/s", "%",
                                                   "flops/byte", "flops/s", "steps",  "",        ""};
  return kKeys[static_cast<std::size_t>(unit)];
}

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

}  // namespace headroom::lessons
