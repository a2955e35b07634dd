// How far moments are off when they are kept in 8 bits: by the size of the number, for each way to quantise.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kStateErrorMap;

namespace {

using record::Histogram;

constexpr std::array<record::Choice, 2> kMoments{{{"first_moment", "first moment"}, {"second_moment", "second moment"}}};
constexpr std::array kSchema{record::ParamSpec{.key = "moment",
                                               .label = "Moment",
                                               .help = "The average of the gradient, or of its square",
                                               .kind = record::ParamKind::kChoice,
                                               .default_text = "first_moment",
                                               .choices = kMoments}};
constexpr std::size_t kMostColumns = 40;
constexpr double kWorst = 100;  // percent: the number is gone

// "first_moment.dynamic.256" as "dynamic, blocks of 256".
std::string way_of(const std::string& name) {
  const std::size_t first = name.find('.'), second = name.find('.', first + 1);
  if (first == std::string::npos) return name;
  if (second == std::string::npos) return name.substr(first + 1);
  return fmt::format("{}, blocks of {}", name.substr(first + 1, second - first - 1), name.substr(second + 1));
}

FigureData build(const FigureInput& input) {
  FigureData figure;
  figure.id = kStateErrorMap.id;
  figure.title = kStateErrorMap.title;
  figure.x = figure.y = {.unit = AxisUnit::kNumber, .low = 0, .high = 1};
  if (input.run == nullptr) {
    figure.empty_reason = "Nothing has run yet.";
    return figure;
  }
  const record::Params defaults(kSchema);
  const record::Params& params = input.params ? *input.params : defaults;
  const record::Recording& recording = input.run->recording();
  figure.source = recording.info().source;
  figure.provenance_line = provenance_line(recording.info());
  // Of each way the last one that was looked at.
  std::vector<const Histogram*> ways;
  for (const Histogram& each : recording.histograms()) {
    if (!each.name.starts_with(params.text("moment") + ".") || each.errors.empty()) continue;
    const auto same = std::find_if(ways.begin(), ways.end(), [&](const Histogram* way) { return way->name == each.name; });
    if (same == ways.end()) ways.push_back(&each);
    else *same = &each;
  }
  figure.provenance = full_provenance(recording, params, ways.empty() ? -1 : ways.front()->step);
  if (ways.empty()) {
    figure.empty_reason = "This run did not compare its moments with what 8 bits keep of them.";
    return figure;
  }
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
  for (const Histogram* way : ways)
    for (std::size_t i = 0; i < way->counts.size(); ++i)
      if (way->counts[i] > 0) {
        low = std::min(low, way->low_exponent + static_cast<int>(i));
        high = std::max(high, way->low_exponent + static_cast<int>(i));
      }
  if (low > high) {
    figure.empty_reason = "All moments are still zero.";
    return figure;
  }
  low = std::max(low, high - static_cast<int>(kMostColumns) + 1);
  const int every = high - low > 14 ? 5 : 1;  // as many columns as have a name between them
  low = high - (high - low) / every * every - every + 1;
  HeatMap map{.title = "Mean error in percent of the number, by its size as a power of two",
              .low = 0,
              .high = kWorst,
              .low_text = "exact",
              .high_text = "the number is gone"};
  for (const Histogram* way : ways) {
    std::vector<double> row;
    std::vector<std::string> tips;
    for (int e = low; e <= high; ++e) {
      const int i = e - way->low_exponent;
      const bool there = i >= 0 && i < static_cast<int>(way->counts.size()) && way->counts[static_cast<std::size_t>(i)] > 0;
      row.push_back(there ? 100 * way->errors[static_cast<std::size_t>(i)] : std::numeric_limits<double>::quiet_NaN());
      tips.push_back(there ? fmt::format("{}, size 2^{}: off by {:.2g} %, {} numbers", way_of(way->name), e, row.back(),
                                         record::format_count(way->counts[static_cast<std::size_t>(i)]))
                           : fmt::format("No number of size 2^{}", e));
    }
    map.tips.push_back(std::move(tips));
    map.rows.push_back(way_of(way->name));
    map.cells.push_back(std::move(row));
  }
  for (int e = low; e <= high; e += every) map.columns.push_back(fmt::format("{}{}", e + every / 2 < 0 ? "−" : "", std::abs(e + every / 2)));
  figure.maps.push_back(std::move(map));
  return figure;
}

}  // namespace

constinit const Figure kStateErrorMap{
    .id = "state_error_map",
    .title = "What 8 bits keep",
    .caption = "Mean error of quantised moments by the number's size, for each way to quantise",
    .schema = kSchema,
    .build = build,
};

}  // namespace headroom::lessons
