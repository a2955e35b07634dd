// The fused loss against its chunk size: bytes by closed form, time by a model, the chunk of Liger's rule, and a
// sweep's speeds.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/step_settings.h"
#include "demos/predict/time/chunk_time.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/sweep.h"
#include "lessons/params.h"
#include "lessons/sources.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::ChunkedLoss;
using predict::ChunkSpeeds;

constexpr double kShownIn = 100.0 * record::kMiB;  // makes MiB the unit of the figure

constexpr std::array kChunkCurveSchema{
    record::ParamSpec{.key = "reached",
                      .label = "Peak reached",
                      .unit = "%",
                      .help = "Fraction of the card's peak that the matrix multiplications reach",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 10,
                      .maximum = 100,
                      .default_number = 70},
};
constexpr std::int64_t kFirstChunk = 32, kLastOfBytes = 4096;
constexpr std::array<std::int64_t, 5> kTokens{1024, 4096, 8192, 16'384, 98'304};

struct ShownChunk {
  std::string model;
  ChunkedLoss loss;
  std::string card;
  ChunkSpeeds speeds;
};

ShownChunk shown_of(const FigureInput& input) {
  const record::Params settings = reader_step(input);
  const predict::StepSettings step = predict::step_settings(settings);
  const predict::Card& card = timed_card(input.view);
  const auto reached = static_cast<double>(input.params->integer("reached"));
  return {
      .model = std::string(record::label_of(*record::find_spec(settings.schema(), "model"), settings.text("model"))),
      .loss = {.tokens = step.tokens(),
               .vocab = step.model.vocab_size,
               .hidden = step.model.hidden_size,
               .fp32_gradient = step.loss.fp32_weight_gradient},
      .card = card.name,
      .speeds = {.flops = *card.bf16 * reached / 100, .bandwidth = *card.bandwidth}};
}

// 32, 64, 128 … and all tokens.
std::vector<std::int64_t> chunks_of(const ChunkedLoss& loss) {
  std::vector<std::int64_t> chunks;
  for (std::int64_t chunk = kFirstChunk; chunk < loss.tokens; chunk *= 2) chunks.push_back(chunk);
  chunks.push_back(loss.tokens);
  return chunks;
}

std::string chunk_text(const ChunkedLoss& loss, std::int64_t chunk) {
  return fmt::format("C = {}, n = {}", record::format_count(chunk), record::format_count(loss.chunks(chunk)));
}

ChartReference rule_line(const ChunkedLoss& loss, double high) {
  const auto x = static_cast<double>(loss.rule());
  return {.label = "rule: " + chunk_text(loss, loss.rule()), .x = {x, x}, .y = {0, high}};
}

Chart bytes_over(const ShownChunk& shown, bool hidden) {
  const ChunkedLoss& loss = shown.loss;
  const std::int64_t last = std::min(loss.tokens, kLastOfBytes);
  const ShownUnit unit = byte_unit(kShownIn);
  ChartSeries finished{.label = "dX and dW", .category = record::Category::kGradients},
      logits{.label = "a chunk's logits, C · V", .category = record::Category::kLogits};
  std::vector<std::int64_t> chunks{0};  // the areas start at zero
  for (const std::int64_t chunk : chunks_of(loss))
    if (chunk <= last) chunks.push_back(chunk);
  for (const std::int64_t chunk : chunks) {
    const auto add = [&](ChartSeries& series, record::Bytes bytes) {
      const auto y = static_cast<double>(bytes);
      std::string tip =
          chunk == 0 ? "" : fmt::format("{}: {} {}", chunk_text(loss, chunk), series.label, bytes_text(bytes, unit));
      series.points.push_back(exact_point(static_cast<double>(chunk), y, std::move(tip)));
    };
    add(finished, loss.input_gradient() + loss.weight_gradient());
    add(logits, loss.logits(chunk));
  }
  Chart chart{.title = "Bytes of the loss", .stacked = true};
  chart.series = {std::move(finished), std::move(logits)};
  chart.x = number_axis(0, static_cast<double>(last), "chunk C, tokens");
  chart.y = {.unit = AxisUnit::kBytes, .high = 1.1 * static_cast<double>(loss.bytes(last)), .shown = unit};
  if (!hidden && loss.rule() <= last) chart.references.push_back(rule_line(loss, chart.y.high));
  return chart;
}

// A logarithmic axis: doublings are equally wide.
Axis chunk_axis(double first, double last) {
  return {.unit = AxisUnit::kNumber,
          .low = first * 0.9,
          .high = last * 1.1,
          .logarithmic = true,
          .name = "chunk C, tokens"};
}

Chart time_over(const ShownChunk& shown, bool hidden) {
  const ChunkedLoss& loss = shown.loss;
  Chart chart{.title = "Time of the loss, modeled"};
  ChartSeries whole{.label = fmt::format("model, {}", shown.card), .kind = SeriesKind::kFused};
  const std::vector<std::int64_t> chunks = chunks_of(loss);
  const ShownUnit unit = time_unit(1e9 * predict::loss_seconds(loss, kFirstChunk, shown.speeds));
  for (const std::int64_t chunk : chunks) {
    const double y = 1e9 * predict::loss_seconds(loss, chunk, shown.speeds);
    whole.points.push_back(exact_point(static_cast<double>(chunk), y,
                                       fmt::format("{}: {}, modeled", chunk_text(loss, chunk), amount_text(y, unit))));
  }
  const double first = static_cast<double>(chunks.front()), last = static_cast<double>(chunks.back());
  chart.x = chunk_axis(first, last);
  chart.y = {.unit = AxisUnit::kNanoseconds, .shown = unit};
  chart.series.push_back(std::move(whole));
  const double products = 1e9 * loss.flops() / shown.speeds.flops;
  chart.references.push_back({.label = "multiplications alone", .x = {first, last}, .y = {products, products}});
  fit_y(chart);
  if (!hidden) chart.references.push_back(rule_line(loss, chart.y.high));
  return chart;
}

Table rule_table(const ShownChunk& shown) {
  Table table{.head = "The chunk rule by tokens", .columns = {"C", "n", "C · V ÷ (BT · H)"}};
  std::vector<std::int64_t> all(kTokens.begin(), kTokens.end());
  if (std::ranges::find(all, shown.loss.tokens) == all.end())
    all.insert(std::ranges::upper_bound(all, shown.loss.tokens), shown.loss.tokens);
  for (const std::int64_t tokens : all) {
    ChunkedLoss loss = shown.loss;
    loss.tokens = tokens;
    const std::int64_t chunk = loss.rule();
    table.rows.push_back({.name = record::format_count(tokens),
                          .cells = {record::format_count(chunk), record::format_count(loss.chunks(chunk)),
                                    fmt::format("{:.2f}", loss.chunk_over_input(chunk))},
                          .tip = fmt::format("{} tokens: {}, logits of a chunk {}", record::format_count(tokens),
                                             chunk_text(loss, chunk), record::format_bytes(loss.logits(chunk)))});
  }
  table.foot = fmt::format("V = {}, H = {}, V/H rounded up: {}.", record::format_count(shown.loss.vocab),
                           record::format_count(shown.loss.hidden), shown.loss.vocab_over_hidden());
  return table;
}

using PointAt = ChartPoint (*)(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit);

// Points of a sweep over the chunk size; other recordings give no series.
Chart measured(const record::Recording& recording, std::string title, Axis y, PointAt point_at) {
  Chart chart{.title = std::move(title), .y = std::move(y)};
  ChartSeries series{.label = provenance_line(recording.info()), .kind = SeriesKind::kLibrary};
  double lowest = 0, highest = 0;
  for (const SweepPoint& point : recording.sweep_points()) {
    const std::int64_t chunk = setting(point, "loss_chunk");
    if (chunk <= 0 || !completed(point)) continue;
    const auto x = static_cast<double>(chunk);
    lowest = series.points.empty() ? x : std::min(lowest, x);
    highest = std::max(highest, x);
    series.points.push_back(point_at(x, point, point.label, byte_unit(kShownIn)));
  }
  if (series.points.empty()) return chart;
  chart.x = chunk_axis(lowest, highest);
  chart.series.push_back(std::move(series));
  fit_y(chart);
  return chart;
}

void add_measured(FigureData& figure, const record::Ledger& run) {
  const record::Recording& recording = run.recording();
  Chart speeds =
      measured(recording, "Speed of the step, measured", {.unit = AxisUnit::kNumber, .name = "tokens/s"}, &speed_at);
  if (speeds.series.empty()) return;
  figure.add(measured(recording, "Peak of the step, measured", {.unit = AxisUnit::kBytes, .shown = byte_unit(kShownIn)},
                      &peak_at));
  figure.add(std::move(speeds));
}

void add_chunk_curve_panels(FigureData& figure, const FigureInput& input) {
  const ShownChunk shown = shown_of(input);
  const bool hidden = input.view.hidden;
  figure.head.provenance["time"] = "modeled: see the page";
  figure.head.provenance_line =
      fmt::format("{}, V = {}, H = {}, {} tokens, 16 bits", shown.model, record::format_count(shown.loss.vocab),
                  record::format_count(shown.loss.hidden), record::format_count(shown.loss.tokens));
  figure.add(bytes_over(shown, hidden));
  figure.add(time_over(shown, hidden));
  if (hidden) return;
  if (input.run != nullptr) add_measured(figure, *input.run);
  figure.add(rule_table(shown));
}

}  // namespace

extern const Figure kChunkCurve;
constinit const Figure kChunkCurve{
    .id = "chunk_curve",
    .title = "The loss by chunk size",
    .caption = "Bytes by closed form, modeled time, and the chunk that Liger's rule chooses",
    .schema = kChunkCurveSchema,
    .basis = Basis::kFormula,
    .on_card = true,
    .add_panels = add_chunk_curve_panels,
};

}  // namespace headroom::lessons
