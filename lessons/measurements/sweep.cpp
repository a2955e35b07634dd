#include "lessons/measurements/sweep.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "lessons/wording.h"

namespace headroom::lessons {

bool begin_sweep(FigureHead& head, const FigureInput& input) {
  const record::Recording& recording = input.run->recording();
  head.growing = !recording.outcome().has_value();
  if (!recording.sweep_points().empty()) return true;
  head.empty_reason = "This is one run, not a sweep: run `headroom sweep`.";
  return false;
}

std::vector<std::string> series_of(const record::Recording& recording) {
  std::vector<std::string> names;
  for (const SweepPoint& point : recording.sweep_points())
    if (std::ranges::find(names, point.series) == names.end()) names.push_back(point.series);
  return names;
}

std::int64_t setting(const SweepPoint& point, std::string_view key) {
  const std::string text = value_of(point.params, key);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

record::Params settings_of(const record::Recording& recording, const SweepPoint& point) {
  std::map<std::string, std::string> all = recording.info().params;
  for (const auto& [key, value] : point.params) all[key] = value;
  return record::Params::known_of(schema_of(recording.info()), all);
}

bool is_computed(const SweepPoint& point) { return point.provenance.contains(std::string(kSourceOfPoint)); }

std::string machine_of(const record::RunInfo& sweep, const SweepPoint& point) {
  if (is_computed(point)) return {};
  const auto fact = [&](std::string_view key) {
    const std::string own = value_of(point.provenance, key);
    return own.empty() ? value_of(sweep.provenance, key) : own;
  };
  if (sweep.device == record::DeviceKind::kGpu) return fact("gpu");
  const std::string processor = fact("cpu"), device = fact("device");  // "CPU, 8 cores"
  const std::size_t cores = device.find(", ");
  return cores == std::string::npos ? processor : processor + device.substr(cores);
}

bool comparable(const std::string& machine, const std::string& other) {
  return machine.empty() || other.empty() || machine == other;
}

bool completed(const SweepPoint& point) { return point.outcome.kind == record::OutcomeKind::kCompleted; }
bool ran_out(const SweepPoint& point) { return point.outcome.kind == record::OutcomeKind::kOutOfMemory; }

std::string speed_text(double tokens_per_second) {
  if (tokens_per_second >= 1000) return record::format_count(static_cast<std::int64_t>(tokens_per_second + 0.5));
  return fmt::format("{:.{}f}", tokens_per_second, tokens_per_second >= 100 ? 0 : 1);
}

record::Bytes highest_peak(const record::Recording& recording) {
  record::Bytes highest = 0;
  for (const SweepPoint& point : recording.sweep_points()) highest = std::max(highest, point.peak.allocated);
  return highest;
}

ShownUnit unit_of_peaks(const record::Recording& recording) {
  return byte_unit(static_cast<double>(highest_peak(recording)));
}

std::string point_text(const SweepPoint& point, std::string_view name, const ShownUnit& unit) {
  std::string text = std::string(name) + ": ";
  if (ran_out(point))
    text += "out of memory at ";
  else if (!completed(point))
    return text + point.outcome.message;
  text += (completed(point) ? "peak " : "") + bytes_text(point.peak.allocated, unit);
  if (point.tokens_per_second > 0)
    text += fmt::format(", {} tokens/s ({} to {})", speed_text(point.tokens_per_second),
                        speed_text(point.tokens_per_second_low), speed_text(point.tokens_per_second_high));
  return text;
}

ChartPoint peak_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit) {
  const auto bytes = static_cast<double>(point.peak.allocated);
  return {.x = x,
          .y = bytes,
          .low = bytes,
          .high = bytes,
          .tip = point_text(point, name, unit),
          .out_of_memory = ran_out(point)};
}

ChartPoint speed_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit) {
  return {.x = x,
          .y = point.tokens_per_second,
          .low = point.tokens_per_second_low,
          .high = point.tokens_per_second_high,
          .tip = point_text(point, name, unit),
          .out_of_memory = ran_out(point)};
}

}  // namespace headroom::lessons
