#include "app/paint/scene/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace headroom::app::paint {
namespace {

// The smallest step, 1, 2 or 5 times a power of ten, that fits into `span` at most `most` times.
double round_step(double span, int most) {
  const double least = span / std::max(most, 1);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// Decimals that a multiple of `step` needs.
int decimals_of(double step) {
  return step >= 1 ? 0 : std::min(6, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
}

}  // namespace

std::vector<Tick> byte_ticks(const lessons::Axis& axis, int most) {
  const ShownUnit unit = lessons::unit_of(axis);
  constexpr std::array kSteps{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096};
  const double span = axis.high / unit.size;
  double step = kSteps.back();
  for (const int each : kSteps) {
    if (span / each <= std::max(most, 1)) {
      step = each;
      break;
    }
  }
  if (span < 2) step = span < 1 ? round_step(span, most) : 0.25;  // the unit was chosen for a longer axis
  std::vector<Tick> ticks;
  for (double value = 0; value <= span * (1 + 1e-9) && ticks.size() < 1000; value += step) {
    ticks.push_back(
        {value * unit.size, step < 1 ? fmt::format("{:g}", value) : record::format_count(std::llround(value))});
  }
  return ticks;
}

TimeTicks time_ticks(const lessons::Axis& axis, int most) {
  const bool events = axis.unit == lessons::AxisUnit::kEvents;
  const ShownUnit unit = events ? ShownUnit{"events", 1} : lessons::unit_of(axis);
  const double low = axis.low / unit.size, high = axis.high / unit.size;
  double step = round_step(high - low, most);
  if (events) step = std::max(1.0, step);
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high && ticks.size() < 1000; ++k) {
    const double value = k * step;
    const std::string text = decimals_of(step) == 0 ? record::format_count(std::llround(value))
                                                    : fmt::format("{:.{}f}", value, decimals_of(step));
    ticks.push_back({value * unit.size, text});
  }
  return {std::move(ticks), unit.name};
}

ChartTicks chart_ticks(const lessons::Axis& axis, int most) {
  const ShownUnit unit = lessons::unit_of(axis);
  ChartTicks result{.ticks = {}, .unit = std::string(unit.name)};
  if (axis.unit == lessons::AxisUnit::kCategory) return result;
  if (axis.unit == lessons::AxisUnit::kBytes) {
    result.ticks = byte_ticks(axis, most);
    return result;
  }
  if (axis.logarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
    const int step = 1 + (last - first) / std::max(1, most);
    const auto add = [&](double value) {
      const double shown = value / unit.size;
      result.ticks.push_back({value, shown < 1     ? fmt::format("{:g}", shown)
                                     : shown < 1e6 ? record::format_count(std::llround(shown))
                                                   : record::format_count(std::llround(shown / 1e6)) + " M"});
    };
    const bool halves = last - first < 2 && most >= 6;  // few decades: ticks at 1, 2, 5, 10, …
    for (int decade = halves ? first - 1 : first; decade <= last; decade += step)
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, decade);
        if (factor > 1 && !halves) break;
        if (value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9)) add(value);
      }
    return result;
  }
  const double low = axis.low / unit.size, high = axis.high / unit.size;
  double step = round_step(high - low, most);
  if (axis.unit == lessons::AxisUnit::kSteps) step = std::max(1.0, step);  // no half steps
  for (double k = std::ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) && result.ticks.size() < 1000; ++k) {
    const double value = k * step;
    const double size = std::abs(value);
    std::string label = decimals_of(step) == 0 ? record::format_count(std::llround(size))
                                               : fmt::format("{:.{}f}", size, decimals_of(step));
    if (value < -step / 2) label.insert(0, "−");
    result.ticks.push_back({value * unit.size, std::move(label)});
  }
  return result;
}

}  // namespace headroom::app::paint
