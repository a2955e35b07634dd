// Axes of panels: a unit and a range, linear or logarithmic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::lessons {

enum class AxisUnit : std::uint8_t {
  kBytes,
  kNanoseconds,
  kEvents,
  kBytesPerSecond,
  kPercent,
  kFlopsPerByte,
  kFlopsPerSecond,
  kSteps,     // of training, counted from 0
  kNumber,    // the axis's name says what it counts
  kCategory,  // 0, 1, 2, … with names
};

// `size`: how many of the axis's own units (bytes, nanoseconds, bytes per second) it is.
struct ShownUnit {
  std::string_view name;  // "GiB"; empty: a number without a unit
  double size = 1;
};

struct Axis {
  AxisUnit unit = AxisUnit::kBytes;
  double low = 0;
  double high = 1;
  bool logarithmic = false;  // charts only
  std::string name = {};  // charts and timelines, what the unit does not say: "hidden size H", "phases as wide as in B"
  std::optional<ShownUnit> shown = {};  // in which its numbers are written; nothing: the one that suits its end
};

// The place of a value on an axis, from 0 to 1; and back.
double part_of(const Axis& axis, double value);
double value_at(const Axis& axis, double part);

}  // namespace headroom::lessons
