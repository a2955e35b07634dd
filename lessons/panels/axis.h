// Axes of panels: a unit and a range, linear or logarithmic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace headroom::lessons {

enum class AxisUnit : std::uint8_t {
  kBytes,
  kNanoseconds,
  kEvents,
  kBytesPerSecond,
  kPercent,
  kFlopsPerByte,
  kFlopsPerSecond,
  kSteps,     // training steps, from 0
  kNumber,    // named by Axis::name
  kCategory,  // 0, 1, 2, … with names
};

// A unit whose `size` is in the axis's units (bytes, nanoseconds, bytes per second).
struct ShownUnit {
  std::string_view name;  // empty: no unit
  double size = 1;
};

struct Axis {
  AxisUnit unit = AxisUnit::kBytes;
  double low = 0;
  double high = 1;
  bool logarithmic = false;             // charts only
  std::string name = {};                // charts and timelines: "hidden size H", "phases as wide as in B"
  std::optional<ShownUnit> shown = {};  // unit of its numbers; empty: the unit that suits its end
};

inline Axis number_axis(double low, double high, std::string name) {
  return {.unit = AxisUnit::kNumber, .low = low, .high = high, .name = std::move(name)};
}
inline Axis category_axis(std::size_t count, std::string name = {}) {
  return {.unit = AxisUnit::kCategory, .low = -0.5, .high = static_cast<double>(count) - 0.5, .name = std::move(name)};
}

// Axes of a panel or figure; a missing axis is bytes from 0 to 1.
struct Axes {
  Axis x, y;
};

std::string_view key_of(AxisUnit unit);  // "ns", in files

// Position of a value on the axis, from 0 to 1, and back.
double part_of(const Axis& axis, double value);
double value_at(const Axis& axis, double part);

}  // namespace headroom::lessons
