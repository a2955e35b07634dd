// Bytes that the busiest GPU sends for a sum over N GPUs, and the time of the sum, in a ring, a tree, and all to one.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/forms/ring.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

using predict::SumCost;
using predict::SumWay;

constexpr double kGigabyte = 1e9;
constexpr ShownUnit kDecimal{"GB", kGigabyte};
constexpr int kMostDrawn = 64;
constexpr record::ParamSpec gigabytes(record::ParamSpec spec) {
  spec.unit = "GB";
  return spec;
}
constexpr std::array kRingBytesSchema{
    experiments::number("gpus", "GPUs", {}, "N: GPUs that sum their buffers", 2, 1024, 4),
    gigabytes(experiments::real("buffer", "Summed bytes",
                                "Bytes that each GPU has and wants the sum of, in 10⁹ bytes: 15 GB are the 16-bit "
                                "gradients of 7.5 billion parameters",
                                0.001, 1000, 15)),
    experiments::number(
        "link", "Link", "GB/s",
        "Bytes per second that a GPU sends, and receives at the same time: NVLink 4 of an H100 450, PCIe "
        "5.0 with 16 lanes 63, a network of 400 Gbit/s 50",
        1, 10000, 450),
    experiments::number("latency", "Latency", "µs", "Time that each message takes besides its bytes; an assumption", 1,
                        10000, 10),
};

struct Sum {
  record::Bytes buffer = 0;
  predict::Link link;

  SumCost cost(SumWay way, int ranks) const { return predict::sum_cost(way, buffer, ranks, link); }
};

// The first series is about the ring.
constexpr std::array<SeriesKind, 3> kWayKinds{SeriesKind::kFused, SeriesKind::kLibrary, SeriesKind::kEager};

// Powers of two, and N.
std::vector<int> counts_with(int ranks) {
  std::vector<int> counts{ranks};
  for (int n = 2; n <= std::max(kMostDrawn, ranks); n *= 2)
    if (n != ranks) counts.push_back(n);
  std::ranges::sort(counts);
  return counts;
}

Axis axis_of(const std::vector<int>& counts) { return number_axis(0, 1.03 * counts.back(), "GPUs, N"); }

// The ring alone, because the other ways would need a far longer axis.
Chart sent_chart(const Sum& sum, const std::vector<int>& counts) {
  Chart chart{
      .title = "Sent by each GPU in a ring", .x = axis_of(counts), .y = {.unit = AxisUnit::kBytes, .shown = kDecimal}};
  ChartSeries series{.label = "ring", .kind = kWayKinds.front()};
  for (const int n : counts) {
    const auto sent = static_cast<double>(sum.cost(SumWay::kRing, n).sent);
    const std::string text = amount_text(sent, kDecimal);
    series.points.push_back(exact_point(n, sent, fmt::format("{} GPUs: each sends {}", n, text), text));
  }
  chart.series.push_back(std::move(series));
  const double twice = 2.0 * static_cast<double>(sum.buffer);
  chart.y.high = 1.2 * twice;
  chart.add_level(fmt::format("twice the buffer, {}", amount_text(twice, kDecimal)), twice);
  return chart;
}

// The unit of the longest sum among those shown.
ShownUnit time_unit_of(const Sum& sum, const std::vector<int>& counts) {
  double longest = 0;
  for (const auto& way : predict::kSumWays)
    longest = std::max(longest, 1e9 * sum.cost(way.meaning, counts.back()).seconds);
  return time_unit(longest);
}

Chart time_chart(const Sum& sum, const std::vector<int>& counts, const ShownUnit& unit) {
  Chart chart{
      .title = "Time of the sum", .x = axis_of(counts), .y = {.unit = AxisUnit::kNanoseconds, .logarithmic = true}};
  for (const auto& way : predict::kSumWays) {
    ChartSeries series{.label = std::string(way.choice.label),
                       .kind = kWayKinds.at(static_cast<std::size_t>(way.meaning))};
    for (const int n : counts) {
      const double time = 1e9 * sum.cost(way.meaning, n).seconds;
      series.points.push_back(
          exact_point(n, time, fmt::format("{}, {} GPUs: {}", series.label, n, amount_text(time, unit))));
    }
    chart.series.push_back(std::move(series));
  }
  chart.y.shown = unit;
  fit_y(chart);
  return chart;
}

Table table_of(const Sum& sum, int ranks, const ShownUnit& unit) {
  Table table{.head = fmt::format("{} GPUs", ranks), .columns = {"the busiest GPU sends", "of the buffer", "time"}};
  constexpr std::array<const char*, 3> kHow{
      "2 (N − 1) messages of an N-th: sums go round, then the complete pieces",
      "log₂ N levels of pairs to the root, and back: each message is the whole buffer",
      "N − 1 buffers to one GPU, which sends the sum to each of the others",
  };
  for (const auto& way : predict::kSumWays) {
    const SumCost cost = sum.cost(way.meaning, ranks);
    table.rows.push_back(
        {.name = std::string(way.choice.label),
         .note = kHow.at(static_cast<std::size_t>(way.meaning)),
         .cells = {amount_text(static_cast<double>(cost.sent), kDecimal),
                   fmt::format("{:.3g} ×", static_cast<double>(cost.sent) / static_cast<double>(sum.buffer)),
                   amount_text(1e9 * cost.seconds, unit)}});
  }
  table.foot = "By formula: a message takes the latency and its bytes over the link; what is summed takes no time.";
  return table;
}

void add_ring_bytes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const auto ranks = static_cast<int>(params.integer("gpus"));
  const Sum sum{.buffer = std::llround(kGigabyte * params.real("buffer")),
                .link = {.bandwidth = kGigabyte * static_cast<double>(params.integer("link")),
                         .latency = 1e-6 * static_cast<double>(params.integer("latency"))}};
  figure.head.provenance_line =
      fmt::format("N = {}, {:.4g} GB, {} GB/s each way", ranks, params.real("buffer"), params.integer("link"));
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  const std::vector<int> counts = counts_with(ranks);
  figure.add(sent_chart(sum, counts));
  const ShownUnit unit = time_unit_of(sum, counts);
  figure.add(time_chart(sum, counts, unit));
  figure.add(table_of(sum, ranks, unit));
}

}  // namespace

extern const Figure kRingBytes;
constinit const Figure kRingBytes{
    .id = "ring_bytes",
    .title = "Bytes and time of a sum over N GPUs",
    .caption =
        "What a GPU sends so that all GPUs have the sum of their buffers, and how long that takes, in a ring, in a "
        "tree, and all to one",
    .schema = kRingBytesSchema,
    .basis = Basis::kParameters,
    .add_panels = add_ring_bytes_panels,
};

}  // namespace headroom::lessons
