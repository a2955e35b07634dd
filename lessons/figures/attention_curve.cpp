// Attention by tiles: one head's scores, of which one tile is in memory at a time; activations and arithmetic against
// sequence length, eager and flash.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "demos/experiments/schemas.h"
#include "demos/predict/forms/attention_work.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/sweep.h"
#include "lessons/params.h"
#include "lessons/theory/activation_line.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::StepSettings;
using record::Bytes;
using record::Category;

constexpr std::array<record::Choice, 3> kTiles{{{"64", "64"}, {"128", "128"}, {"256", "256"}}};
constexpr std::array kAttentionCurveSchema{
    experiments::choice("tile", "Tile", "Queries and keys per tile", kTiles, "128"),
    frame_param(8),
};
constexpr std::int64_t kMostBlocks = 16;  // blocks drawn per side
constexpr int kPlaces = 64;               // points of a line
constexpr std::string_view kEager = "eager", kFlash = "flash";

record::Params with(record::Params params, std::int64_t seq, std::string_view attention) {
  (void)params.set("seq", record::ParamValue(seq));
  (void)params.set("attention", attention);
  return params;
}

// One head's scores, block by block, without the tiles that the causal mask empties.
class TileDiagram {
 public:
  TileDiagram(const StepSettings& step, std::int64_t tile, std::size_t index)
      : tile_(tile), width_(step.model.head_dim), element_(step.element_bytes()) {
    const std::int64_t all = (step.sequence + tile - 1) / tile;
    blocks_ = std::min(all, kMostBlocks);
    now_ = place_of(static_cast<std::int64_t>(index));
    diagram_.title = fmt::format("Queries {} by keys {}: {} × {} scores on the chip", span(now_.first),
                                 span(now_.second), tile, tile);
    if (all > blocks_) diagram_.title += fmt::format("; the first {} of {} blocks", blocks_, all);
    const auto n = static_cast<double>(blocks_);
    diagram_.width = n + 6;
    diagram_.height = n + 2.4;
    diagram_.unit = "bytes";
    name("Q", 0);
    name("K, V", n + 2);
    name("O", n + 4);
    for (std::int64_t i = 0; i < blocks_; ++i) strips(i);
    for (std::int64_t row = 0; row < blocks_; ++row)
      for (std::int64_t column = 0; column <= row; ++column) score(row, column);
  }

  Diagram take() { return std::move(diagram_); }
  static std::size_t frames(const StepSettings& step, std::int64_t tile) {
    const std::int64_t n = std::min((step.sequence + tile - 1) / tile, kMostBlocks);
    return static_cast<std::size_t>(n * (n + 1) / 2);
  }

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // block of queries, block of keys

  static Place place_of(std::int64_t index) {
    std::int64_t row = 0;
    while (index > row) index -= ++row;
    return {row, index};
  }
  std::string span(std::int64_t block) const {
    return fmt::format("{}–{}", record::format_count(block * tile_), record::format_count((block + 1) * tile_ - 1));
  }

  void add(std::string id, double x, double y, BoxState state, bool marked, Category category, Bytes bytes,
           std::string tip) {
    diagram_.boxes.push_back({.id = std::move(id),
                              .x = x + 0.06,
                              .y = y + 0.06,
                              .width = 0.88,
                              .height = 0.88,
                              .state = state,
                              .marked = marked,
                              .category = category,
                              .value = static_cast<double>(bytes),
                              .tip = std::move(tip)});
  }

  void name(const char* label, double x) {
    diagram_.boxes.push_back({.id = label, .x = x, .y = 0, .width = 2, .height = 2, .label = label});
  }

  // Draws blocks [tile × D] in GPU memory: queries left, output right, keys and values above.
  void strips(std::int64_t i) {
    const auto at = static_cast<double>(i);
    const Bytes bytes = tile_ * width_ * element_;
    const std::string size = fmt::format("{} × {} numbers", tile_, width_);
    add(fmt::format("q{}", i), 0.5, at + 2, BoxState::kAlive, i == now_.first, Category::kActivations, bytes,
        fmt::format("Queries {}: {}", span(i), size));
    add(fmt::format("kv{}", i), at + 2, 0.5, BoxState::kAlive, i == now_.second, Category::kActivations, 2 * bytes,
        fmt::format("Keys and values {}: two of {}", span(i), size));
    const BoxState state = i <= now_.first ? BoxState::kAlive : BoxState::kNotYet;
    add(fmt::format("o{}", i), static_cast<double>(blocks_) + 4.5, at + 2, state, i == now_.first,
        Category::kActivations, bytes, fmt::format("Output {}: {}", span(i), size));
    if (i == now_.first && now_.second < now_.first)
      diagram_.boxes.back().filled = static_cast<double>(now_.second + 1) / static_cast<double>(now_.first + 1);
  }

  void score(std::int64_t row, std::int64_t column) {
    const Place place{row, column};
    const BoxState state = place == now_ ? BoxState::kAlive : place < now_ ? BoxState::kFreed : BoxState::kNotYet;
    add(fmt::format("s{}_{}", row, column), static_cast<double>(column) + 2, static_cast<double>(row) + 2, state, false,
        Category::kWorkspace, tile_ * tile_ * 4,
        fmt::format("Scores of queries {} and keys {}", span(row), span(column)));
  }

  std::int64_t tile_, width_;
  Bytes element_;
  std::int64_t blocks_ = 0;
  Place now_;
  Diagram diagram_;
};

// The model's activations at each sequence length, by closed form.
ChartReference line_of(const record::Params& settings, std::string_view attention, std::int64_t longest) {
  ChartReference line{.label = fmt::format("{}, by closed form", attention)};
  for (int i = 1; i <= kPlaces; ++i) {
    const std::int64_t seq = std::max<std::int64_t>(1, longest * i / kPlaces);
    const auto bytes = closed_activation_bytes(with(settings, seq, attention));
    if (!bytes) continue;
    line.x.push_back(static_cast<double>(seq));
    line.y.push_back(static_cast<double>(*bytes));
  }
  return line;
}

ChartPoint point_at(std::int64_t seq, Bytes bytes, std::string_view attention, std::string_view how,
                    const ShownUnit& unit) {
  return exact_point(
      static_cast<double>(seq), static_cast<double>(bytes),
      fmt::format("{}, T = {}: activations {} {}", attention, record::format_count(seq), bytes_text(bytes, unit), how));
}

// True if the point differs from the settings only in sequence and attention.
bool is_of(const SweepPoint& point, const record::Params& theirs, const record::Params& settings) {
  return completed(point) && !is_computed(point) &&
         same_bytes(with(settings, theirs.integer("seq"), theirs.text("attention")), theirs);
}

bool any_measured(const record::Recording& run, const record::Params& settings) {
  const auto& points = run.sweep_points();
  return std::ranges::any_of(points, [&](const SweepPoint& point) {
    return is_of(point, experiments::step_params(settings_of(run, point)), settings);
  });
}

ChartSeries measured(const record::Recording* run, const record::Params& settings, std::string_view attention,
                     const ShownUnit& unit) {
  ChartSeries series{.label = fmt::format("{}, measured", attention),
                     .kind = attention == kEager ? SeriesKind::kEager : SeriesKind::kFused};
  if (run == nullptr) return series;
  for (const SweepPoint& point : run->sweep_points()) {
    const record::Params theirs = experiments::step_params(settings_of(*run, point));
    if (theirs.text("attention") != attention || !is_of(point, theirs, settings)) continue;
    const Bytes bytes = point.peak.by_category[static_cast<std::size_t>(Category::kActivations)];
    series.points.push_back(point_at(theirs.integer("seq"), bytes, attention, "measured at the peak", unit));
  }
  return series;
}

std::int64_t longest_of(const record::Recording* run, const record::Params& settings) {
  std::int64_t longest = settings.integer("seq");
  if (run != nullptr)
    for (const SweepPoint& point : run->sweep_points()) longest = std::max(longest, setting(point, "seq"));
  return longest;
}

Chart memory(const record::Recording* run, const record::Params& settings, std::int64_t longest) {
  Chart chart;
  chart.title = "Activations at the peak";
  chart.joined = false;
  for (const std::string_view attention : {kEager, kFlash})
    chart.references.push_back(line_of(settings, attention, longest));
  double highest = 1;
  for (const ChartReference& line : chart.references)
    for (const double y : line.y) highest = std::max(highest, y);
  const ShownUnit unit = byte_unit(highest);
  for (const std::string_view attention : {kEager, kFlash}) {
    ChartSeries series = measured(run, settings, attention, unit);
    if (series.points.empty()) {
      series.label = fmt::format("{}, these settings", attention);
      const std::int64_t seq = settings.integer("seq");
      const Bytes bytes = closed_activation_bytes(with(settings, seq, attention)).value_or(0);
      series.points.push_back(point_at(seq, bytes, attention, "by closed form", unit));
      series.points.back().label = bytes_text(bytes, unit);
    }
    chart.series.push_back(std::move(series));
  }
  chart.y = {.unit = AxisUnit::kBytes, .shown = unit};
  return chart;
}

struct Arithmetic {
  std::string_view label;
  SeriesKind kind;
  double (*flops)(const StepSettings& step, std::int64_t tile);
};
constexpr std::array kArithmetic{
    Arithmetic{"eager: six GEMMs, T × T", SeriesKind::kEager,
               [](const StepSettings& step, std::int64_t) { return predict::eager_attention_flops(step); }},
    Arithmetic{"flash: seven, tiles at and below the diagonal", SeriesKind::kFused, predict::flash_attention_flops}};

Chart arithmetic(StepSettings step, std::int64_t tile, std::int64_t longest) {
  constexpr int kMarks = 8;
  Chart chart;
  chart.title = "Arithmetic of attention, forward and backward";
  step.sequence = longest;
  const bool tera = predict::eager_attention_flops(step) >= 1e12;
  const double unit = tera ? 1e12 : 1e9;
  chart.y = {.unit = AxisUnit::kNumber, .name = tera ? "TFLOP" : "GFLOP"};
  for (const Arithmetic& each : kArithmetic) {
    ChartSeries series{.label = std::string(each.label), .kind = each.kind};
    for (int i = 1; i <= kMarks; ++i) {
      step.sequence = std::max<std::int64_t>(1, longest * i / kMarks);
      const double y = each.flops(step, tile) / unit;
      series.points.push_back(exact_point(
          static_cast<double>(step.sequence), y,
          fmt::format("{}, T = {}: {:.3g} {}", each.label, record::format_count(step.sequence), y, chart.y.name)));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// The x axis starts at T = 0; the y axis covers points and lines.
void set_axes(Chart& chart, std::int64_t longest) {
  chart.x = number_axis(0, 1.05 * static_cast<double>(longest), "sequence length T, tokens");
  fit_y(chart);
}

std::string words_of(const StepSettings& step, bool hidden, const ShownUnit& unit) {
  const std::int64_t layers = step.model.num_layers;
  std::string words = fmt::format("{} layers of {} heads, batch {}, {} tokens", layers, step.model.num_heads,
                                  step.batch, record::format_count(step.sequence));
  if (hidden) return words;
  return words + fmt::format(": scores {}, log-sum-exp {}", short_bytes(layers * predict::score_bytes(step), unit),
                             short_bytes(layers * predict::log_sum_exp_bytes(step), unit));
}

void add_attention_curve_panels(FigureData& figure, const FigureInput& input) {
  const record::Recording* run = input.run == nullptr ? nullptr : &input.run->recording();
  if (input.settings == nullptr) {
    if (run == nullptr) figure.head.empty_reason = "No sweep has run yet.";
    if (run != nullptr) set_run(figure.head, *run, *input.params);
    if (run == nullptr || !begin_sweep(figure.head, input)) return;
  }
  const record::Params settings = experiments::step_params(
      input.settings != nullptr ? *input.settings : settings_of(*run, run->sweep_points().back()));
  const StepSettings step = predict::step_settings(settings);
  const std::int64_t tile = std::stoll(input.params->text("tile"));
  const std::int64_t longest = longest_of(run, settings);
  Chart bytes = memory(run, settings, longest);
  if (run != nullptr && any_measured(*run, settings))
    set_run(figure.head, *run, *input.params);
  else
    set_formula(figure.head, settings);
  figure.head.provenance_line = words_of(step, input.view.hidden, unit_of(bytes.y));
  const std::size_t frame = show_frame(figure.head, *input.params, TileDiagram::frames(step, tile));
  figure.add(TileDiagram(step, tile, frame).take());
  if (input.view.hidden) return;
  for (Chart chart : {std::move(bytes), arithmetic(step, tile, longest)}) {
    set_axes(chart, longest);
    figure.add(std::move(chart));
  }
}

}  // namespace

extern const Figure kAttentionCurve;
constinit const Figure kAttentionCurve{
    .id = "attention_curve",
    .title = "Attention by tiles",
    .caption =
        "One head's scores tile by tile; activations and arithmetic over the sequence length, eager and by tiles",
    .schema = kAttentionCurveSchema,
    .basis = Basis::kSweep,
    .add_panels = add_attention_curve_panels,
};

}  // namespace headroom::lessons
