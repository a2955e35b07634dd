// A weight under equal small updates, stored in fp32, in bf16 rounded to nearest, in bf16 rounded stochastically, and
// as an fp32 master with a bf16 copy.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/record/units.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/random.h"
#include "lessons/theory/number_format.h"

namespace headroom::lessons {
namespace {

constexpr std::array kRoundingWalkSchema{
    experiments::real("weight", "Weight", "Value before the first update", 1e-3, 1e3, 1),
    experiments::real("update", "Update", "Update that each step adds", 1e-7, 1, 1e-3),
    experiments::number("updates", "Updates", {}, "Number of updates", 1, 10'000, 1'000),
    whole_param("draw", "Draw", "Seed of the random numbers of stochastic rounding", 0, 999'999, 0),
};

// The optimizers here compute the sum in fp32, then round it to the weight's format.
double fp32(double value) { return rounded(number_format("fp32"), value); }
double bf16(double value) { return rounded(number_format("bf16"), value); }

// A step's random number in [0, 1).
double random_at(std::int64_t seed, int step) {
  std::uint64_t state = static_cast<std::uint64_t>(seed) * kGolden;
  std::uint64_t of_step = next_random(state) + static_cast<std::uint64_t>(step) * kGolden;
  return std::ldexp(static_cast<double>(next_random(of_step) >> 11), -53);
}

struct Walk {
  std::string_view label, storage;
  SeriesKind kind;
  std::vector<double> weights = {};  // before the first step and after each step

  double end() const { return weights.back(); }
};

// Walks in the table's order: the nearly exact sum in fp32 first.
std::array<Walk, 4> walks_of(const record::Params& params) {
  std::array<Walk, 4> walks{{{"fp32", "4 B", SeriesKind::kEager},
                             {"bf16, to nearest", "2 B", SeriesKind::kOther},
                             {"bf16, stochastic", "2 B", SeriesKind::kFused},
                             {"fp32 master, bf16 copy", "4 + 2 B", SeriesKind::kLibrary}}};
  auto& [single, nearest, random, copy] = walks;
  const double weight = params.real("weight"), update = fp32(params.real("update"));
  single.weights = {fp32(weight)};
  for (Walk* each : {&nearest, &random, &copy}) each->weights = {bf16(weight)};
  const NumberFormat& format = number_format("bf16");
  for (int step = 0; step < params.integer("updates"); ++step) {
    single.weights.push_back(fp32(single.end() + update));
    nearest.weights.push_back(bf16(fp32(nearest.end() + update)));
    random.weights.push_back(
        rounded(format, fp32(random.end() + update), Rounding::kStochastic, random_at(params.integer("draw"), step)));
    copy.weights.push_back(bf16(single.end()));
  }
  return walks;
}

// Standard deviation of stochastic rounding over all seeds. A step rounds up by a spacing s with probability q, which
// adds q (1 − q) s² to the variance; s and q are those along the exact sum.
double spread_of(const record::Params& params) {
  const double weight = params.real("weight"), update = params.real("update");
  double variance = 0;
  for (int step = 0; step < params.integer("updates"); ++step) {
    const double spacing = spacing_at(number_format("bf16"), weight + step * update);
    const double part = update / spacing, q = part - std::floor(part);
    variance += q * (1 - q) * spacing * spacing;
  }
  return std::sqrt(variance);
}

ChartSeries walk_series(const Walk& walk) {
  constexpr std::size_t kMostPoints = 500;
  ChartSeries series{.label = std::string(walk.label), .kind = walk.kind, .named_at_end = true};
  const std::size_t last = walk.weights.size() - 1, every = 1 + last / kMostPoints;
  for (std::size_t i = 0; i <= last; i += i + every > last && i < last ? last - i : every) {
    const double y = walk.weights[i];
    series.points.push_back(exact_point(static_cast<double>(i), y));
    if (i % (10 * every) == 0 || i == last)
      series.points.back().tip = fmt::format("{}, after {} updates: {}", walk.label,
                                             record::format_count(static_cast<std::int64_t>(i)), number_text(y, 6));
  }
  return series;
}

void fit(Chart& chart, double updates) {
  const auto [low, high] = range_of(chart.series, &ChartPoint::y);
  const double room = std::max(0.08 * (high - low), 0.004 * high);
  chart.x = number_axis(0, 1.25 * updates, "updates");
  chart.y = number_axis(low - room, high + room, "weight");
}

Table ends(const std::array<Walk, 4>& walks, const record::Params& params) {
  const double exact = params.real("weight") + static_cast<double>(params.integer("updates")) * params.real("update");
  Table table{.head = fmt::format("After {} updates", record::format_count(params.integer("updates"))),
              .columns = {"per weight", "the weight", "off from the exact sum"}};
  for (const Walk& walk : walks) {
    const double off = walk.end() - exact;
    const bool none = std::abs(off) < 1e-6 * exact;
    table.rows.push_back({.name = std::string(walk.label),
                          .cells = {std::string(walk.storage), fmt::format("{:.5g}", walk.end()),
                                    none ? "0" : (off > 0 ? "+" : "") + number_text(off, 2)}});
  }
  const double spacing = spacing_at(number_format("bf16"), params.real("weight"));
  const double spread = spread_of(params);
  const int decimals = spread > 0 ? std::max(0, -static_cast<int>(std::floor(std::log10(spread)))) : 2;
  table.foot = fmt::format(
      "Stochastic rounding, over all seeds: {:.{}f} ± {:.{}f}. At the start, bf16 has steps of {}; rounded to nearest, "
      "an update below half of that is lost.",
      exact, decimals, spread, decimals, number_text(spacing));
  return table;
}

void add_rounding_walk_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const std::array<Walk, 4> walks = walks_of(params);
  const auto updates = static_cast<double>(params.integer("updates"));
  figure.head.provenance_line =
      fmt::format("{} + {} × {}", number_text(params.real("weight")), record::format_count(params.integer("updates")),
                  number_text(params.real("update")));
  Chart chart;
  // Names are placed in this order, the wandering line's first.
  for (const std::size_t i : {2U, 0U, 1U, 3U})
    if (i == 0 || !input.view.hidden) chart.series.push_back(walk_series(walks[i]));
  fit(chart, updates);
  figure.add(std::move(chart));
  if (!input.view.hidden) figure.add(ends(walks, params));
}

}  // namespace

extern const Figure kRoundingWalk;
constinit const Figure kRoundingWalk{
    .id = "rounding_walk",
    .title = "A weight under small updates",
    .caption = "The same update added step by step to a weight in fp32, in bf16 with two roundings, and with a master",
    .schema = kRoundingWalkSchema,
    .basis = Basis::kParameters,
    .add_panels = add_rounding_walk_panels,
};

}  // namespace headroom::lessons
