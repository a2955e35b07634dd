// A step's gradients by size, drawn over a format's range, and the updates that rounding swallows.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/theory/number_format.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Histogram;

constexpr std::array<record::Choice, 2> kHistogramNumbers{{{"gradients", "gradients"}, {"updates", "updates"}}};
constexpr std::array<record::Choice, 3> kHistogramFormats{{{"fp16", "fp16"}, {"bf16", "bf16"}, {"fp32", "fp32"}}};
constexpr std::array<record::Choice, 6> kScales{{{"1", "not scaled"},
                                                 {"128", "× 2⁷"},
                                                 {"4096", "× 2¹²"},
                                                 {"65536", "× 2¹⁶"},
                                                 {"1048576", "× 2²⁰"},
                                                 {"16777216", "× 2²⁴"}}};
constexpr std::array kGradientHistogramSchema{
    experiments::choice("numbers", "Numbers", "Gradients by size, or the optimizer's updates of the weights by size",
                        kHistogramNumbers, "gradients"),
    experiments::needs(experiments::choice("format", "Format", "Number format whose range is shown as a band",
                                           kHistogramFormats, "fp16"),
                       "numbers", "gradients"),
    experiments::needs(
        experiments::choice("scale", "Factor", "Factor on the gradients: it shifts them, but not the format's range",
                            kScales, "1"),
        "numbers", "gradients"),
};

// Exponents of a format: numbers below 2^least become zero, below 2^normal have fewer digits, and from 2^end on are
// infinite.
struct Range {
  int least, normal, end;
};

Range range_of(const NumberFormat& format) {
  return {format.least() - 1, format.least_normal(), format.most_exponent + 1};  // half the smallest number rounds up
}

constexpr int kLeastSeen = -48;  // smaller numbers are drawn here

// The last histogram that has counts; a skipped step has no updates.
const Histogram* last_of(const record::Recording& recording, std::string_view name) {
  const auto& all = recording.histograms();
  const auto found = std::find_if(all.rbegin(), all.rend(),
                                  [&](const Histogram& each) { return each.name == name && !each.counts.empty(); });
  return found == all.rend() ? nullptr : &*found;
}

std::int64_t sum(const Histogram& histogram) {
  std::int64_t total = histogram.zeros + histogram.not_finite;
  for (const std::int64_t count : histogram.counts) total += count;
  return total;
}

std::string percent(double part, double whole) {
  const double value = whole > 0 ? 100 * part / whole : 0;
  return value > 0 && value < 0.05 ? "less than 0.1 %" : fmt::format("{:.1f} %", value);
}

// `shift` is added to the exponents.
ChartSeries counts_of(const Histogram& histogram, std::string label, SeriesKind kind, int shift) {
  ChartSeries series{.label = std::move(label), .kind = kind};
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] <= 0) continue;
    const int exponent = histogram.low_exponent + static_cast<int>(i) + shift;
    const auto count = static_cast<double>(histogram.counts[i]);
    if (!series.points.empty() && exponent <= kLeastSeen) {
      series.points.back().y += count;
      continue;
    }
    const double x = std::max(exponent, kLeastSeen) + 0.5;
    series.points.push_back(exact_point(x, count));
    series.points.back().tip = fmt::format("{} of size 2^{} to 2^{}: {}", series.label, exponent, exponent + 1,
                                           record::format_count(histogram.counts[i]));
  }
  return series;
}

void fit(Chart& chart, double low, double high) {
  const auto [left, right] = range_of(chart.series, &ChartPoint::x);
  const double most = std::max(10.0, range_of(chart.series, &ChartPoint::y).second);
  chart.bars = true;
  chart.x = number_axis(std::floor(std::min(low, left - 1.5)), std::ceil(std::max(high, right + 1.5)),
                        "size, as a power of two");
  chart.y = {.unit = AxisUnit::kNumber,
             .low = 1,
             .high = std::pow(10, std::ceil(std::log10(most * 1.5))),
             .logarithmic = true,
             .name = "how many"};
}

std::string outcome(const Histogram& gradients, const NumberFormat& format, int shift) {
  const Range range = range_of(format);
  std::int64_t lost = 0, coarse = 0, infinite = gradients.not_finite;
  for (std::size_t i = 0; i < gradients.counts.size(); ++i) {
    const int exponent = gradients.low_exponent + static_cast<int>(i) + shift;
    if (exponent < range.least)
      lost += gradients.counts[i];
    else if (exponent < range.normal)
      coarse += gradients.counts[i];
    else if (exponent >= range.end)
      infinite += gradients.counts[i];
  }
  const auto all = static_cast<double>(sum(gradients));
  return fmt::format("In {}: {} become zero, {} lose digits, {} become infinite", format.name,
                     percent(static_cast<double>(lost), all), percent(static_cast<double>(coarse), all),
                     percent(static_cast<double>(infinite), all));
}

// `hidden`: the question is how many gradients are lost, at any scale.
Chart gradients_chart(const Histogram& gradients, const record::Params& params, bool hidden) {
  const NumberFormat& format = number_format(params.text("format"));
  const Range range = range_of(format);
  const int shift = hidden ? 0 : static_cast<int>(std::lround(std::log2(std::stod(params.text("scale")))));
  Chart chart;
  chart.series.push_back(counts_of(gradients, "gradients", SeriesKind::kFused, shift));
  chart.title = hidden ? fmt::format("What would become of them in {}, unscaled", format.name)
                       : outcome(gradients, format, shift);
  fit(chart, std::max<double>(kLeastSeen, range.least - 4), std::min(20, range.end + 2));
  const auto inside = [&](double x) { return std::clamp(x, chart.x.low, chart.x.high); };
  chart.spans = {{"becomes zero", chart.x.low, inside(range.least), 3},
                 {"fewer digits", inside(range.least), inside(range.normal), 2},
                 {fmt::format("range of {}", format.name), inside(range.normal), inside(range.end), 0},
                 {"infinite", inside(range.end), chart.x.high, 3}};
  std::erase_if(chart.spans, [](const ChartSpan& span) { return !(span.high > span.low); });
  return chart;
}

Chart updates_chart(const Histogram& updates, const Histogram* lost, bool hidden) {
  Chart chart;
  chart.series.push_back(counts_of(updates, "all updates", SeriesKind::kEager, 0));
  if (hidden) {
    chart.title = "Updates that the optimizer computes";
    fit(chart, 0, -60);
    return chart;
  }
  double swallowed = 0;
  if (lost != nullptr) {
    chart.series.push_back(counts_of(*lost, "lost in rounding", SeriesKind::kFused, 0));
    swallowed = static_cast<double>(sum(*lost) - lost->zeros);
  }
  chart.title = fmt::format("{} of the updates leave their weight unchanged",
                            percent(swallowed, static_cast<double>(sum(updates) - updates.zeros)));
  fit(chart, 0, -60);
  return chart;
}

void add_gradient_histogram_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const record::Recording& recording = input.run->recording();
  const bool of_updates = params.text("numbers") == "updates", hidden = input.view.hidden;
  const Histogram* numbers = last_of(recording, of_updates ? "updates" : "gradients");
  set_step(figure.head, numbers == nullptr ? -1 : numbers->step);
  if (numbers == nullptr)
    return figure.leave_empty(
        "This run did not count its gradients by size: switch \"Gradient histogram\" on and run.");
  figure.add(of_updates ? updates_chart(*numbers, last_of(recording, "updates.lost"), hidden)
                        : gradients_chart(*numbers, params, hidden));
  if (input.baseline != nullptr)
    if (const Histogram* before = last_of(input.baseline->recording(), numbers->name); before != nullptr) {
      Chart of_a = of_updates ? updates_chart(*before, last_of(input.baseline->recording(), "updates.lost"), hidden)
                              : gradients_chart(*before, params, hidden);
      of_a.title = "Run A: " + of_a.title;
      figure.add(std::move(of_a));
      add_baseline(figure.head.provenance, input.baseline->recording());
    }
}

}  // namespace

extern const Figure kGradientHistogram;
constinit const Figure kGradientHistogram{
    .id = "gradient_histogram",
    .title = "Gradients by size",
    .caption = "Gradients counted by size, against the range of a number format",
    .schema = kGradientHistogramSchema,
    .add_panels = add_gradient_histogram_panels,
};

}  // namespace headroom::lessons
