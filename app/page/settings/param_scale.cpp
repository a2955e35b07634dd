// Places and writes a parameter's values.
#include "app/page/settings/param_scale.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/record/text.h"
#include "demos/record/units.h"

namespace headroom::app::page {

using record::ParamKind;

namespace {

constexpr double kSmallestCard = 16.0 * 1024 * 1024;  // less cannot hold a tiny model's step
constexpr int kMostStops = 4096;
constexpr double kSingly = 16;  // every count up to this is a stop

}  // namespace

std::vector<double> stops_of(const record::ParamSpec& spec) {
  std::vector<double> stops;
  if (spec.kind == ParamKind::kBytes) {
    if (spec.minimum <= 0) stops.push_back(0);
    for (double size = std::max(kSmallestCard, spec.minimum); size <= spec.maximum; size *= 2) {
      stops.push_back(size);
      if (size * 1.5 <= spec.maximum) stops.push_back(size * 1.5);
    }
  } else if (spec.kind == ParamKind::kInteger && spec.logarithmic) {
    for (double value = std::max(1.0, spec.minimum); value <= std::min(kSingly, spec.maximum); ++value)
      stops.push_back(value);
    for (double octave = kSingly; octave < spec.maximum; octave *= 2)
      for (const double quarter : {1.25, 1.5, 1.75, 2.0})
        if (octave * quarter >= spec.minimum && octave * quarter <= spec.maximum) stops.push_back(octave * quarter);
  } else if (spec.kind == ParamKind::kInteger && spec.maximum - spec.minimum < kMostStops) {
    for (double value = spec.minimum; value <= spec.maximum; ++value) stops.push_back(value);
  } else if (spec.kind == ParamKind::kReal && spec.logarithmic && spec.minimum > 0) {
    for (double value = spec.minimum; value <= spec.maximum * 1.0001; value *= 10)
      for (const double part : {1.0, 2.0, 5.0})
        if (value * part <= spec.maximum * 1.0001) stops.push_back(value * part);
  }
  return stops;
}

int nearest_stop(const std::vector<double>& stops, double value) {
  int best = 0;
  double distance = std::abs(std::log1p(stops.front()) - std::log1p(value));
  for (int i = 1; i < static_cast<int>(stops.size()); ++i) {
    const double d = std::abs(std::log1p(stops[static_cast<std::size_t>(i)]) - std::log1p(value));
    if (d < distance) distance = d, best = i;
  }
  return best;
}

double place_of(const std::vector<double>& stops, double value) {
  const auto above = std::ranges::lower_bound(stops, value) - stops.begin();
  if (above == 0 || stops.size() < 2) return 0;
  const auto last = std::ssize(stops) - 1;
  if (above > last) return 1;
  const double low = stops[static_cast<std::size_t>(above - 1)], high = stops[static_cast<std::size_t>(above)];
  return (static_cast<double>(above - 1) + (value - low) / (high - low)) / static_cast<double>(last);
}

double number_of(const record::ParamSpec& spec, const record::Params& params) {
  return spec.kind == ParamKind::kReal ? params.real(spec.key) : static_cast<double>(params.integer(spec.key));
}

std::string typed_value(const record::ParamSpec& spec, double value) {
  if (spec.kind == ParamKind::kReal) return fmt::format("{:.6g}", value);
  return fmt::format("{}", static_cast<std::int64_t>(std::llround(value)));
}

bool is_unset(const record::ParamSpec& spec, const record::Params& params) {
  if (spec.unset.empty()) return false;
  return spec.kind == ParamKind::kFile ? params.text(spec.key).empty() : number_of(spec, params) == 0;
}

std::string value_in_words(const record::ParamSpec& spec, const record::Params& params) {
  const std::string value = shown_value(spec, params);
  const bool number = spec.kind == ParamKind::kReal || spec.kind == ParamKind::kInteger;
  const bool bare = value == "off" || value == "on" || (number && spec.unit.empty());
  return bare ? record::in_lower_case(spec.label) + " " + value : value;
}

std::string shown_value(const record::ParamSpec& spec, const record::Params& params) {
  if (is_unset(spec, params)) return std::string(spec.unset);
  switch (spec.kind) {
    case ParamKind::kInteger: {
      const std::string count = record::format_count(params.integer(spec.key));
      if (spec.unit.empty()) return count;
      const bool one = params.integer(spec.key) == 1 && spec.unit.ends_with('s');
      return fmt::format("{} {}", count, one ? spec.unit.substr(0, spec.unit.size() - 1) : spec.unit);
    }
    case ParamKind::kReal:
      return typed_value(spec, params.real(spec.key)) + (spec.unit.empty() ? "" : fmt::format(" {}", spec.unit));
    case ParamKind::kSwitch:
    case ParamKind::kChoice:
      return std::string(record::label_of(spec, params.as_text(spec.key)));
    case ParamKind::kFile:
      return params.text(spec.key);
    case ParamKind::kBytes:
      break;
  }
  const record::Bytes bytes = params.integer(spec.key);
  const record::Bytes unit = bytes >= record::kGiB ? record::kGiB : bytes >= record::kMiB ? record::kMiB : record::kKiB;
  return record::format_bytes(bytes, bytes % unit == 0 ? 0 : 2);
}

}  // namespace headroom::app::page
