// Llama 3 8B on four cards as the Liger paper published it: peak memory and speed by batch, with closed-form memory per
// further sequence.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/llama/architecture.h"
#include "demos/predict/forms/needle.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/params.h"
#include "lessons/theory/line_fit.h"

namespace headroom::lessons {
namespace {

constexpr std::int64_t kPublishedSeq = 512;
constexpr std::array kPublished8bSchema{
    whole_param("copies", "Copies", "fp32 tensors of logits in memory at once", 0, 5, 3),
    whole_param("tokens", "Tokens per sequence",
                "Tokens per sequence of the closed form; the published points have 512", 128, 2048, kPublishedSeq),
    whole_param("reach", "Line to batch", "Largest batch that the line reaches", 64, 256, 80),
};

struct Way {
  std::string_view key, label;
  SeriesKind kind;
};
constexpr std::array<Way, 2> kWays{{{"huggingface", "Hugging Face, published", SeriesKind::kEager},
                                    {"liger", "Liger, published", SeriesKind::kFused}}};

std::vector<LinePoint> points_of(std::string_view implementation) {
  std::vector<LinePoint> points;
  for (const PublishedTraining& each : published_trainings())
    if (each.implementation == implementation)
      points.push_back({static_cast<double>(each.batch), static_cast<double>(each.peak)});
  return points;
}

const llama::Architecture& model() { return *llama::find_architecture("llama-3-8b"); }

// Bytes of one sequence: logits alive at once, and one kept input per layer.
record::Bytes per_sequence(const record::Params& params) {
  const std::int64_t seq = params.integer("tokens");
  return predict::needle_bytes(model().shape, params.integer("copies"), seq) +
         predict::kept_inputs_bytes(model().shape, seq);
}

// A line through the mean of the published points with the slope of the closed form, which gives no offset.
LineFit closed_line(const record::Params& params) {
  const auto [x, y] = mean_of(points_of(kWays.front().key));
  const auto slope = static_cast<double>(per_sequence(params));
  return {y - slope * x, slope};
}

// The unit of the published plot.
constexpr ShownUnit kUnit{"MiB", static_cast<double>(record::kMiB)};

ChartSeries series_of(const Way& way, bool speeds) {
  ChartSeries series{.label = std::string(way.label), .kind = way.kind, .published = true};
  for (const PublishedTraining& each : published_trainings()) {
    if (each.implementation != way.key) continue;
    const double y = speeds ? each.tokens_per_second : static_cast<double>(each.peak) / kUnit.size;
    series.points.push_back(
        exact_point(static_cast<double>(each.batch), y,
                    fmt::format("{}, batch {}: {}, {} tokens/s", way.label, each.batch, bytes_text(each.peak, kUnit, 0),
                                speed_text(each.tokens_per_second))));
  }
  return series;
}

Chart chart_of(std::string title, const record::Params& params, bool speeds, bool hidden) {
  Chart chart;
  chart.title = std::move(title);
  chart.joined = false;
  chart.x = number_axis(0, 1.03 * static_cast<double>(params.integer("reach")),
                        fmt::format("batch, {} tokens each", kPublishedSeq));
  chart.y = {.unit = AxisUnit::kNumber, .name = speeds ? "tokens/s" : std::string(kUnit.name)};
  for (const Way& way : kWays)
    if (speeds || !hidden || way.kind == SeriesKind::kFused) chart.series.push_back(series_of(way, speeds));
  fit_y(chart);
  return chart;
}

void add_line(Chart& memory, const record::Params& params) {
  const LineFit line = closed_line(params);
  ChartReference drawn{.label = bytes_text(static_cast<record::Bytes>(line.slope), kUnit, 1) + " per sequence",
                       .x = {std::max(0.0, -line.at_zero / line.slope), static_cast<double>(params.integer("reach"))}};
  for (const double x : drawn.x) drawn.y.push_back(std::max(0.0, line.at(x)) / kUnit.size);
  constexpr record::Bytes kCard = 80 * record::kGiB;
  memory.references.push_back(std::move(drawn));
  memory.add_level("card, " + bytes_text(kCard, kUnit, 0), static_cast<double>(kCard) / kUnit.size, true);
  fit_y(memory);
}

Table slopes(const record::Params& params) {
  const std::int64_t seq = params.integer("tokens");
  const auto row = [](std::string name, double bytes) {
    return TableRow{.name = std::move(name), .cells = {bytes_text(static_cast<record::Bytes>(bytes), kUnit, 1)}};
  };
  Table table{.head = "Each additional sequence", .columns = {"memory"}};
  const record::Bytes logits = predict::needle_bytes(model().shape, params.integer("copies"), seq);
  const record::Bytes kept = predict::kept_inputs_bytes(model().shape, seq);
  table.rows.push_back(row(fmt::format("Closed form: {} of logits in fp32 and {} of kept inputs",
                                       bytes_text(logits, kUnit, 1), bytes_text(kept, kUnit, 1)),
                           static_cast<double>(logits + kept)));
  for (const Way& way : kWays)
    if (const auto line = fit_line(points_of(way.key)))
      table.rows.push_back(row(fmt::format("{}: slope of its three points", way.label), line->slope));
  table.foot = "The published points have 512 tokens per sequence and are read off a plot.";
  return table;
}

void add_published_8b_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const llama::Config& shape = model().shape;
  figure.head.provenance_line =
      fmt::format("{} on four A100 80 GB with FSDP, published; V = {}, H = {}, L = {}", model().name,
                  record::format_count(shape.vocab_size), record::format_count(shape.hidden_size), shape.num_layers);
  const bool hidden = input.view.hidden;
  Chart memory = chart_of("Peak memory", params, false, hidden);
  if (!hidden) add_line(memory, params);
  figure.add(std::move(memory));
  figure.add(chart_of("Speed", params, true, hidden));
  if (!hidden) figure.add(slopes(params));
}

}  // namespace

extern const Figure kPublished8b;
constinit const Figure kPublished8b{
    .id = "published_8b",
    .title = "Llama 3 8B, published",
    .caption =
        "Peak memory and speed of Llama 3 8B by batch as published, and what each additional sequence takes by closed "
        "form",
    .schema = kPublished8bSchema,
    .basis = Basis::kParameters,
    .add_panels = add_published_8b_panels,
};

}  // namespace headroom::lessons
