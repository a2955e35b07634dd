#include "app/paint/files/keys.h"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::app::paint {

std::string_view key_of(lessons::AxisUnit unit) {
  switch (unit) {
    case lessons::AxisUnit::kBytes:
      return "bytes";
    case lessons::AxisUnit::kNanoseconds:
      return "ns";
    case lessons::AxisUnit::kEvents:
      return "events";
    case lessons::AxisUnit::kBytesPerSecond:
      return "bytes/s";
    case lessons::AxisUnit::kPercent:
      return "%";
    case lessons::AxisUnit::kFlopsPerByte:
      return "flops/byte";
    case lessons::AxisUnit::kFlopsPerSecond:
      return "flops/s";
    case lessons::AxisUnit::kSteps:
      return "steps";
    case lessons::AxisUnit::kNumber:
    case lessons::AxisUnit::kCategory:
      return "";
  }
  return "";
}

std::string_view key_of(lessons::LineStyle style) {
  switch (style) {
    case lessons::LineStyle::kReserved:
      return "reserved";
    case lessons::LineStyle::kProcess:
      return "process";
    case lessons::LineStyle::kBaseline:
      return "run_a";
    case lessons::LineStyle::kPredicted:
      return "predicted";
    case lessons::LineStyle::kFormula:
      return "formula";
  }
  return "";
}

std::string_view key_of(lessons::Work work) {
  switch (work) {
    case lessons::Work::kOurs:
      return "fused";
    case lessons::Work::kProduct:
      return "product";
    case lessons::Work::kOther:
      return "other";
    case lessons::Work::kMove:
      return "copy";
    case lessons::Work::kHost:
      return "host";
    case lessons::Work::kZone:
      return "zone";
  }
  return "";
}

std::string number(double value) {
  std::string text = fmt::format("{:.3f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string place_of(const lessons::Chart& chart, const lessons::ChartPoint& point) {
  const auto index = static_cast<std::size_t>(std::max(0.0, point.x));
  if (chart.x.unit == lessons::AxisUnit::kCategory && index < chart.categories.size()) return chart.categories[index];
  return number(point.x);
}

}  // namespace headroom::app::paint
