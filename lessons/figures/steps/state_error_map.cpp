// Errors of 8-bit moments by the number's size, for each format.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/measurements/moment_errors.h"
#include "lessons/params.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Histogram;

constexpr std::array<record::Choice, 2> kErrorMoments{
    {{"first_moment", "first moment"}, {"second_moment", "second moment"}}};
constexpr std::array kStateErrorMapSchema{experiments::choice(
    "moment", "Moment", "The average of the gradient, or of its square", kErrorMoments, "second_moment")};
constexpr std::size_t kMostColumns = 40;
constexpr double kWorst = 100;  // percent: the number is gone

// Mean error of all numbers by block size, with even and with dynamic levels, in the run and in run A.
Chart mean_errors(const std::vector<MomentWay>& ways, const std::vector<MomentWay>& ways_of_a, bool hidden) {
  Chart chart{.title = "Mean error of all numbers", .bars = true};
  std::vector<std::int64_t> blocks;
  for (const MomentWay& way : ways)
    if (std::ranges::find(blocks, way.block) == blocks.end()) blocks.push_back(way.block);
  for (const std::int64_t block : blocks) chart.categories.push_back(record::format_count(block));
  double highest = 0;
  for (const bool dynamic : {false, true}) {
    const std::string levels = dynamic ? "dynamic levels" : "even levels";
    ChartSeries now{.label = levels, .kind = dynamic ? SeriesKind::kFused : SeriesKind::kEager};
    ChartSeries before{.label = levels + ", run A", .kind = SeriesKind::kLibrary};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const double value = error_of(ways, dynamic, blocks[i]), a = error_of(ways_of_a, dynamic, blocks[i]);
      if (value < 0) continue;
      if (!hidden || !dynamic) highest = std::max(highest, value);
      const std::string tip =
          fmt::format("{}, blocks of {}: off by {:.1f} % on average", levels, record::format_count(blocks[i]), value);
      const auto x = static_cast<double>(i);
      now.points.push_back(exact_point(x, value, tip, fmt::format("{:.1f} %", value)));
      if (a < 0) continue;
      const std::string change = fmt::format("B − A: {}{:.1f} %", value < a ? "−" : "+", std::abs(value - a));
      before.points.push_back(
          exact_point(x, a, fmt::format("{}; run A: {:.1f} %, {}", tip, a, change), fmt::format("{:.1f} %", a)));
    }
    if (hidden && dynamic) continue;
    chart.series.push_back(std::move(now));
    if (!before.points.empty()) chart.series.push_back(std::move(before));
  }
  chart.x = category_axis(blocks.size(), "numbers in a block that share a scale");
  chart.y = {.unit = AxisUnit::kPercent, .high = std::max(1.0, std::ceil(highest * 1.15))};
  return chart;
}

void add_state_error_map_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const record::Recording& recording = input.run->recording();
  // The question is about the second moment, by whose root AdamW divides.
  const std::string moment = input.view.hidden ? "second_moment" : std::string(params.text("moment"));
  std::vector<MomentWay> ways = moment_ways(recording, moment);
  set_step(figure.head, ways.empty() ? -1 : ways.front().errors->step);
  if (ways.empty()) return figure.leave_empty("This run did not compare its moments with their 8-bit versions.");
  const std::vector<MomentWay> ways_of_a =
      input.baseline == nullptr ? std::vector<MomentWay>{} : moment_ways(input.baseline->recording(), moment);
  Chart chart = mean_errors(ways, ways_of_a, input.view.hidden);
  if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
  if (input.view.hidden) std::erase_if(ways, [](const MomentWay& way) { return way.dynamic; });
  int low = std::numeric_limits<int>::max(), high = std::numeric_limits<int>::min();
  for (const MomentWay& way : ways)
    for (std::size_t i = 0; i < way.errors->counts.size(); ++i)
      if (way.errors->counts[i] > 0) {
        low = std::min(low, way.errors->low_exponent + static_cast<int>(i));
        high = std::max(high, way.errors->low_exponent + static_cast<int>(i));
      }
  if (low > high) return figure.leave_empty("All moments are still zero.");
  low = std::max(low, high - static_cast<int>(kMostColumns) + 1);
  const int every = high - low > 14 ? 5 : 1;  // columns per name
  low = high - (high - low) / every * every - every + 1;
  HeatMap map{.title = "Mean error in percent of the number, by its size as a power of two",
              .named_every = every,
              .low = 0,
              .high = kWorst,
              .low_text = "exact",
              .high_text = "the number is lost"};
  for (const MomentWay& each : ways) {
    const Histogram* const way = each.errors;
    std::vector<double> row;
    std::vector<std::string> tips;
    for (int e = low; e <= high; ++e) {
      const int i = e - way->low_exponent;
      const bool there =
          i >= 0 && i < static_cast<int>(way->counts.size()) && way->counts[static_cast<std::size_t>(i)] > 0;
      row.push_back(there ? 100 * way->errors[static_cast<std::size_t>(i)] : std::numeric_limits<double>::quiet_NaN());
      tips.push_back(there ? fmt::format("{}, size 2^{}: off by {:.2g} %, {} numbers", each.label(), e, row.back(),
                                         record::format_count(way->counts[static_cast<std::size_t>(i)]))
                           : fmt::format("No number of size 2^{}", e));
    }
    map.tips.push_back(std::move(tips));
    map.rows.push_back(each.label());
    map.cells.push_back(std::move(row));
  }
  for (int e = low; e <= high; ++e) map.columns.push_back(fmt::format("{}{}", e < 0 ? "−" : "", std::abs(e)));
  chart.asked = moment == "second_moment";
  figure.add(std::move(chart));
  figure.add(std::move(map));
}

}  // namespace

extern const Figure kStateErrorMap;
constinit const Figure kStateErrorMap{
    .id = "state_error_map",
    .title = "What 8 bits keep",
    .caption = "Mean error of quantized moments by the number's size, for each way to quantize",
    .schema = kStateErrorMapSchema,
    .add_panels = add_state_error_map_panels,
};

}  // namespace headroom::lessons
