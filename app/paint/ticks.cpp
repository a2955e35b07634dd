#include "app/paint/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace headroom::app::paint {
namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};

TimeUnit time_unit(double span) {
  if (span >= 2e9) return {"s", 1e9};
  if (span >= 2e6) return {"ms", 1e6};
  if (span >= 2e3) return {"µs", 1e3};
  return {"ns", 1};
}

// The smallest of 1, 2, 4, 5 (for times), 10, … of which at most `most` fit into `span`.
double round_step(double span, int most) {
  const double least = span / std::max(most, 1);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Digits after the point that a multiple of `step` needs.
int decimals_of(double step) {
  return step >= 1 ? 0 : std::min(6, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
}

}  // namespace

std::vector<Tick> byte_ticks(const lessons::Axis& axis, const ByteUnit& unit, int most) {
  constexpr std::array kSteps{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096};
  const double span = axis.high / unit.bytes;
  double step = kSteps.back();
  for (const int each : kSteps) {
    if (span / each <= std::max(most, 1)) {
      step = each;
      break;
    }
  }
  std::vector<Tick> ticks;
  for (double value = 0; value <= span * (1 + 1e-9) && ticks.size() < 1000; value += step) {
    ticks.push_back({value * unit.bytes, fmt::format("{:.0f}", value)});
  }
  return ticks;
}

TimeTicks time_ticks(const lessons::Axis& axis, int most) {
  const bool events = axis.unit == lessons::AxisUnit::kEvents;
  const TimeUnit unit = events ? TimeUnit{"events", 1} : time_unit(axis.high - axis.low);
  const double low = axis.low / unit.nanoseconds, high = axis.high / unit.nanoseconds;
  double step = round_step(high - low, most);
  if (events) step = std::max(1.0, step);
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high && ticks.size() < 1000; ++k) {
    const double value = k * step;
    const std::string text = decimals_of(step) == 0 ? record::format_count(std::llround(value))
                                                    : fmt::format("{:.{}f}", value, decimals_of(step));
    ticks.push_back({value * unit.nanoseconds, text});
  }
  return {std::move(ticks), unit.name};
}

}  // namespace headroom::app::paint
