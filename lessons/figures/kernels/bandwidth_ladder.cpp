// How fast this machine moves bytes: within the device, over the bus, within the host, to a file, and in the CPU's
// AdamW.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

struct Place {
  std::string_view variant, name;
};
// Links from the widest to the narrowest, then the CPU's AdamW.
constexpr std::array<Place, 8> kCopyPlaces{{{"device_copy", "GPU copy"},
                                            {"to_device", "host to GPU"},
                                            {"to_host", "GPU to host"},
                                            {"both_ways", "both at once"},
                                            {"host_copy", "host copy"},
                                            {"file_read", "file to host"},
                                            {"file_write", "host to file"},
                                            {"adamw", "AdamW, CPU"}}};

double rate(const Measurement& row, double nanoseconds) {
  return nanoseconds > 0 ? static_cast<double>(row.bytes) / nanoseconds * 1e9 : 0;
}

// Hidden links are slower than the known copies: the axis leaves two decades for them.
constexpr double kRoomBelow = 1e-2;
constexpr double kNothingKnown = 1e12;  // B/s: end of the axis if no copy is known

// True for copies within a memory, which are shown while the answer is hidden.
bool is_known(const Measurement& row) { return row.variant == "device_copy" || row.variant == "host_copy"; }

const Measurement* same_link(const record::Recording& run, const Measurement& row) {
  for (const Measurement& other : run.measurements())
    if (other.panel == row.panel && other.variant == row.variant && other.storage == row.storage && other.median > 0)
      return &other;
  return nullptr;
}

// The unit of the slowest link, for all links and the axis.
constexpr ShownUnit kRateUnit{"GB/s", 1e9};

ChartPoint point_of(const Measurement& row, double x, const ShownUnit& bytes) {
  const double value = rate(row, row.median);
  return {.x = x,
          .y = value,
          .low = rate(row, row.high),
          .high = rate(row, row.low),
          .label = amount_text(value, kRateUnit),
          .tip = fmt::format("{}, {} memory: {} ({} to {}), {} repeats of {}", row.label, row.storage,
                             amount_text(value, kRateUnit), in_unit(rate(row, row.high), kRateUnit),
                             in_unit(rate(row, row.low), kRateUnit), row.samples, bytes_text(row.bytes, bytes))};
}

ChartPoint point_of_a(const Measurement& a, const Measurement& b, double x, const ShownUnit& bytes) {
  ChartPoint point = point_of(a, x, bytes);
  const double change = rate(b, b.median) - rate(a, a.median);
  point.tip = fmt::format("Run A: {}. B − A: {}{}", point.tip, change < 0 ? "" : "+", amount_text(change, kRateUnit));
  return point;
}

void add_bandwidth_ladder_panels(FigureData& figure, const FigureInput& input) {
  if (!begin_bench(figure.head, input)) return;
  Chart chart;
  chart.bars = true;
  ChartSeries main{.label = "measured", .kind = SeriesKind::kFused};
  ChartSeries slow{.label = "from pageable memory", .kind = SeriesKind::kEager};
  ChartSeries before{.label = "run A", .kind = SeriesKind::kLibrary};
  const bool hidden = input.view.hidden;
  record::Bytes most = 0;
  for (const Measurement& row : input.run->recording().measurements()) most = std::max(most, row.bytes);
  const ShownUnit bytes = byte_unit(static_cast<double>(most));
  double low = HUGE_VAL, high = 0;
  for (const Place& place : kCopyPlaces) {
    bool there = false;
    for (const Measurement& row : input.run->recording().measurements()) {
      if (row.panel != record::Measurement::kBandwidth || row.variant != place.variant || row.median <= 0) continue;
      const auto x = static_cast<double>(chart.categories.size());
      const ChartPoint point = point_of(row, x, bytes);
      there = true;
      if (hidden && !is_known(row)) continue;
      low = std::min(low, is_known(row) && input.view.asked ? point.y * kRoomBelow : point.y);
      high = std::max(high, point.high);
      (through_buffer(row) ? slow : main).points.push_back(point);
      const Measurement* a =
          input.baseline == nullptr || through_buffer(row) ? nullptr : same_link(input.baseline->recording(), row);
      if (a == nullptr) continue;
      before.points.push_back(point_of_a(*a, row, x, bytes));
      low = std::min(low, before.points.back().y);
      high = std::max(high, before.points.back().high);
    }
    if (there) chart.categories.emplace_back(place.name);
  }
  if (chart.categories.empty()) return figure.leave_empty("This run did not measure how fast bytes move.");
  chart.series.push_back(std::move(main));
  if (!slow.points.empty()) chart.series.push_back(std::move(slow));
  if (!before.points.empty()) chart.series.push_back(std::move(before));
  if (high <= 0) low = kNothingKnown * kRoomBelow, high = kNothingKnown;
  chart.x = category_axis(chart.categories.size());
  chart.y = {.unit = AxisUnit::kBytesPerSecond,
             .low = std::pow(10, std::floor(std::log10(low * 0.7))),
             .high = std::pow(10, std::ceil(std::log10(high * 1.5))),
             .logarithmic = true,
             .shown = kRateUnit};
  chart.title = "Bytes moved per second";
  chart.asked = true;
  if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kBandwidthLadder;
constinit const Figure kBandwidthLadder{
    .id = "bandwidth_ladder",
    .title = "Links of this machine",
    .caption = "How many bytes per second move within the GPU, over the bus, within the host and to a file",
    .schema = {},
    .add_panels = add_bandwidth_ladder_panels,
};

}  // namespace headroom::lessons
