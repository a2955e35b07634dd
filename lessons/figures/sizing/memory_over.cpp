// A step's peak against batch or sequence, by closed form, up to the card's memory, with measured and published points.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/forms/closed_form.h"
#include "lessons/axes.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/names.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::ByCategory;
using record::Bytes;

constexpr std::array kOverAxes{record::Choice{"batch", "the batch"}, record::Choice{"seq", "the sequence"}};
constexpr std::array kPublished{record::Choice{"off", "none"}, record::Choice{"bert96", "BERT, by Harmony"},
                                record::Choice{"gpt2", "GPT-2, by Harmony"},
                                record::Choice{"report", "the report's runs"}};
constexpr std::array kMemoryOverSchema{
    experiments::choice("over", "Over", "Setting that grows along the axis; the other keeps its value", kOverAxes,
                        "batch"),
    experiments::choice("published_by", "Published", "Points that others measured, with their own models and settings",
                        kPublished, "off"),
};

constexpr std::int64_t kMostPlaces = 48;  // x positions at which areas are drawn
constexpr double kBeyondCard = 1.4;       // x ends where memory is this multiple of the card's

// The settings' step at any batch or sequence x.
class SizedSteps {
 public:
  SizedSteps(const record::Params& settings, bool over_batch)
      : step_(predict::step_settings(settings)), batch_(over_batch) {
    const auto model = experiments::described_model(step_);
    if (!model) return;
    step_.model = model.value().config;
    step_.extension = model.value().extension;
  }

  bool over_batch() const { return batch_; }
  std::int64_t own() const { return batch_ ? step_.batch : step_.sequence; }
  std::int64_t grain() const { return batch_ ? 1 : 64; }
  std::int64_t most() const { return batch_ ? 256 : 131'072; }
  std::int64_t other() const { return batch_ ? step_.sequence : step_.batch; }
  ByCategory peak(std::int64_t x) const { return predict::closed_form(at(x)).peak().bytes; }
  Bytes total(std::int64_t x) const { return record::total(peak(x)); }

  // The largest x whose peak is at most `bytes`; 0: none.
  std::int64_t largest(Bytes bytes) const {
    std::int64_t low = 0, high = most() / grain() + 1;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (total(middle * grain()) <= bytes ? low : high) = middle;
    }
    return low * grain();
  }

  // A run's x; empty if the run's other size, model or bytes differ from the settings'.
  std::optional<std::int64_t> place_of(const predict::StepSettings& run) const {
    const std::int64_t x = batch_ ? run.batch : run.sequence;
    if ((batch_ ? run.sequence : run.batch) != other() || run.model.id != step_.model.id) return std::nullopt;
    if (predict::closed_form(run).peak().bytes != peak(x)) return std::nullopt;
    return x;
  }

  std::string words(std::int64_t x) const {
    const std::int64_t batch = batch_ ? x : other(), sequence = batch_ ? other() : x;
    return fmt::format("batch {}, {} tokens", record::format_count(batch), record::format_count(sequence));
  }

 private:
  predict::StepSettings at(std::int64_t x) const {
    predict::StepSettings step = step_;
    (batch_ ? step.batch : step.sequence) = x;
    return step;
  }

  predict::StepSettings step_;
  bool batch_;
};

std::string words_of(const ByCategory& bytes, const ShownUnit& unit) {
  std::string words;
  for (int i = 0; i < record::kNumCategories; ++i)
    if (const Bytes each = bytes[static_cast<std::size_t>(i)]; each > 0)
      words += fmt::format(", {} {}", record::label_of(static_cast<record::Category>(i)), bytes_text(each, unit));
  return fmt::format("{}{}", bytes_text(record::total(bytes), unit), words);
}

// Merges workspace and other memory, both small.
constexpr auto kSmall = static_cast<std::size_t>(record::Category::kWorkspace);
ByCategory folded(ByCategory bytes) {
  Bytes& other = bytes[static_cast<std::size_t>(record::Category::kOther)];
  bytes[kSmall] += other;
  other = 0;
  return bytes;
}

std::string kind_name(record::Category category) {
  return category == record::Category::kWorkspace ? "Workspace, other" : capitalised(record::label_of(category));
}

// One series per kind in use, static kinds at the bottom.
void add_kinds(Chart& chart, const SizedSteps& steps, const std::vector<std::int64_t>& places, const ShownUnit& unit) {
  std::vector<ByCategory> peaks;
  for (const std::int64_t x : places) peaks.push_back(folded(steps.peak(x)));
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<record::Category>(i);
    ChartSeries series{.label = kind_name(category), .category = category};
    Bytes most = 0;
    for (std::size_t p = 0; p < places.size(); ++p) {
      const Bytes bytes = peaks[p][static_cast<std::size_t>(i)];
      const auto y = static_cast<double>(bytes);
      most = std::max(most, bytes);
      series.points.push_back(exact_point(static_cast<double>(places[p]), y,
                                          fmt::format("{}: {}", steps.words(places[p]), words_of(peaks[p], unit))));
    }
    if (most > 0) chart.series.push_back(std::move(series));
  }
}

ChartPoint mark_at(double x, Bytes bytes, const std::string& name, const ShownUnit& unit) {
  const auto y = static_cast<double>(bytes);
  return exact_point(x, y, fmt::format("{}: {}", name, bytes_text(bytes, unit)));
}

void add_measured(Chart& chart, const SizedSteps& steps, const FigureInput& input, const ShownUnit& unit) {
  ChartSeries measured{.label = "measured", .kind = SeriesKind::kFused, .over = true};
  for (const record::Ledger* run : {input.baseline, input.run}) {
    if (run == nullptr || run->recording().info().source == record::Source::kPredicted) continue;
    const record::Recording& recording = run->recording();
    const record::RunInfo& info = recording.info();
    if (!experiments::trains(info.demo)) continue;
    for (const SweepPoint& point : recording.sweep_points())
      if (const auto x = steps.place_of(predict::step_settings(settings_of(recording, point))); x && completed(point))
        measured.points.push_back(
            mark_at(static_cast<double>(*x), point.peak.allocated, "measured, " + steps.words(*x), unit));
    const auto step = record::last_whole_step(recording);
    if (!step || !recording.sweep_points().empty()) continue;
    if (const auto x = steps.place_of(predict::settings_of(info, experiments::training_step().schema)))
      measured.points.push_back(mark_at(static_cast<double>(*x), run->peak(step->first, step->last).totals.allocated,
                                        "measured, " + steps.words(*x), unit));
  }
  std::ranges::sort(measured.points, {}, &ChartPoint::x);
  if (!measured.points.empty()) chart.series.push_back(std::move(measured));
}

// Areas of Harmony's figure, read off at its first and last minibatch.
Chart published_areas(const std::string& model, const ShownUnit& unit) {
  constexpr std::array kKinds{std::pair{record::Category::kWeights, &PublishedStep::weights},
                              std::pair{record::Category::kGradients, &PublishedStep::gradients},
                              std::pair{record::Category::kOptimizerState, &PublishedStep::optimizer_state},
                              std::pair{record::Category::kActivations, &PublishedStep::activations}};
  Chart chart{.title = fmt::format("{}, published", record::label_of(kMemoryOverSchema[1], model)), .stacked = true};
  Bytes top = 0, card = 0;
  for (const PublishedStep& step : published_steps())
    if (step.model == model) {
      top = std::max(top, step.weights + step.gradients + step.optimizer_state + step.activations);
      card = step.card;
    }
  for (const auto& [category, bytes] : kKinds) {
    ChartSeries series{.label = kind_name(category), .category = category};
    for (const PublishedStep& step : published_steps())
      if (step.model == model)
        series.points.push_back(mark_at(static_cast<double>(step.minibatch), step.*bytes,
                                        fmt::format("batch {}, {}", step.minibatch, kind_name(category)), unit));
    chart.series.push_back(std::move(series));
  }
  chart.x = number_axis(0, chart.series.front().points.back().x, "sequences in a batch, B");
  chart.y = {.unit = AxisUnit::kBytes, .high = round_up_bytes(1.05 * static_cast<double>(top)), .shown = unit};
  chart.add_level("their card", static_cast<double>(card), true);
  return chart;
}

void add_report(Chart& chart, bool over_batch, const ShownUnit& unit) {
  const std::string other = over_batch ? "1,024 tokens" : "batch 4";
  for (const auto& [key, name] :
       {std::pair{"hf", "report, Hugging Face"}, std::pair{"liger_all", "report, all kernels"}}) {
    ChartSeries series{.label = fmt::format("{}, {}", name, other),
                       .kind = key == std::string_view("hf") ? SeriesKind::kEager : SeriesKind::kFused,
                       .published = true,
                       .over = true};
    for (const PublishedRun& run : published_runs()) {
      const std::int64_t x = over_batch ? run.batch : run.seq;
      if (run.experiment != (over_batch ? "batch" : "sequence") || run.strategy != key || run.peak == 0) continue;
      if (static_cast<double>(x) <= chart.x.high)
        series.points.push_back(
            mark_at(static_cast<double>(x), run.peak,
                    fmt::format("{}, batch {}, {} tokens", name, run.batch, record::format_count(run.seq)), unit));
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
}

// The card as a limit, and other cards in range as lines that do not overlap.
void add_cards(Chart& chart, const CardLimit& limit) {
  std::vector<Bytes> drawn{limit.memory};
  for (const predict::Card& card : predict::cards()) {
    if (!card.memory) continue;
    const auto y = static_cast<double>(*card.memory);
    const auto near = [&](Bytes other) { return std::abs(static_cast<double>(other) - y) < 0.1 * chart.y.high; };
    if (y > 0.97 * chart.y.high || y < static_cast<double>(limit.memory) || std::ranges::any_of(drawn, near)) continue;
    drawn.push_back(*card.memory);
    chart.add_level(card.name, y);
  }
  chart.add_level(limit.name == short_bytes(limit.memory) ? limit.name + " card" : limit.name,
                  static_cast<double>(limit.memory), true);
}

double highest_of(const Chart& chart, double stack) {
  for (const ChartSeries& series : chart.series)
    if (series.over)
      for (const ChartPoint& point : series.points) stack = std::max(stack, point.y);
  return stack;
}

std::vector<std::int64_t> places_until(const SizedSteps& steps, std::int64_t last) {
  const std::int64_t grains = last / steps.grain(),
                     stride = std::max<std::int64_t>(1, (grains + kMostPlaces - 1) / kMostPlaces);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 1; i < grains; i += stride) places.push_back(i * steps.grain());
  places.push_back(grains * steps.grain());
  return places;
}

// The last x: beyond the card, twice the settings' x, or enough for published points, whichever is largest.
std::int64_t last_place(const SizedSteps& steps, const CardLimit& limit, const std::string& published) {
  const auto goal = static_cast<Bytes>(kBeyondCard * static_cast<double>(limit.memory));
  const std::int64_t beyond = steps.largest(goal) + steps.grain(), twice = 2 * steps.own();
  const std::int64_t report = steps.over_batch() ? 16 : 4096;
  const std::int64_t least = published == "report" ? report : 4 * steps.grain();
  const std::int64_t last = std::max({beyond, twice, least});
  return std::min(steps.most(), (last + steps.grain() - 1) / steps.grain() * steps.grain());
}

Chart areas_of(const SizedSteps& steps, const CardLimit& limit, const FigureInput& input) {
  const std::string published = input.params->text("published_by");
  const std::int64_t last = last_place(steps, limit, published);
  const Bytes top = steps.total(last);
  Chart chart;
  chart.stacked = true;
  chart.joined = true;
  chart.x = number_axis(0, static_cast<double>(last),
                        steps.over_batch() ? "sequences in a batch, B" : "tokens in a sequence, T");
  const ShownUnit unit = byte_unit(static_cast<double>(std::max(top, limit.memory)));
  add_kinds(chart, steps, places_until(steps, last), unit);
  add_measured(chart, steps, input, unit);
  if (published == "report") add_report(chart, steps.over_batch(), unit);
  chart.y = {.unit = AxisUnit::kBytes, .shown = unit};
  chart.y.high =
      round_up_bytes(1.05 * std::max(highest_of(chart, static_cast<double>(top)), static_cast<double>(limit.memory)));
  add_cards(chart, limit);
  return chart;
}

// The peak at the settings and at twice their x, by kind.
Table doubled(const SizedSteps& steps, const CardLimit& limit, const ShownUnit& unit) {
  const std::int64_t own = steps.own();
  const ByCategory once = folded(steps.peak(own)), twice = folded(steps.peak(2 * own));
  const char* const name = steps.over_batch() ? "batch {}" : "{} tokens";
  const auto column = [&](std::int64_t x) { return fmt::format(fmt::runtime(name), record::format_count(x)); };
  Table table{.head = "At the peak", .columns = {column(own), column(2 * own), "factor"}};
  const auto row = [&](std::optional<record::Category> category, std::string label, Bytes a, Bytes b) {
    table.rows.push_back(
        {.category = category,
         .name = std::move(label),
         .cells = {bytes_text(a, unit), bytes_text(b, unit),
                   a > 0 ? fmt::format("{:.2f}", static_cast<double>(b) / static_cast<double>(a)) : "–"}});
  };
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (once[k] + twice[k] > 0)
      row(static_cast<record::Category>(i), kind_name(static_cast<record::Category>(i)), once[k], twice[k]);
  }
  row({}, "Together", record::total(once), record::total(twice));
  const std::int64_t largest = steps.largest(limit.memory - limit.process.bytes);
  const std::string most =
      largest == 0 ? std::string("not even the smallest") : fmt::format("{} at most", column(largest));
  table.foot = fmt::format("Tensors alone on {}: {}.", limit.name, most);
  return table;
}

// Until the question is answered, shows only the step with the current settings.
Chart alone(const SizedSteps& steps) {
  Chart chart;
  chart.bars = chart.stacked = true;
  const Bytes total = steps.total(steps.own());
  const ShownUnit unit = byte_unit(static_cast<double>(total));
  add_kinds(chart, steps, {steps.own()}, unit);
  for (ChartSeries& series : chart.series) series.points.front().x = 0;
  if (!chart.series.empty()) chart.series.back().points.front().label = bytes_text(total, unit);
  chart.categories = {steps.words(steps.own())};
  chart.x = category_axis(1);
  chart.y = {.unit = AxisUnit::kBytes, .high = round_up_bytes(1.1 * static_cast<double>(total)), .shown = unit};
  return chart;
}

void add_memory_over_panels(FigureData& figure, const FigureInput& input) {
  const bool of_run =
      input.settings == nullptr && input.run != nullptr && experiments::trains(input.run->recording().info().demo);
  const record::Params settings = of_run ? step_params_of(input.run->recording().info()) : reader_step(input);
  if (!begin_on_card(figure.head, {}, settings)) return;
  const SizedSteps steps(settings, input.params->text("over") == "batch");
  if (input.view.hidden) return figure.add(alone(steps));
  const CardLimit limit = card_limit(input.view, settings);
  figure.head.provenance["card.memory_bytes"] = std::to_string(limit.memory);
  Chart areas = areas_of(steps, limit, input);
  const ShownUnit unit = unit_of(areas.y);
  figure.add(std::move(areas));
  if (const std::string published = input.params->text("published_by"); published == "bert96" || published == "gpt2")
    figure.add(published_areas(published, unit));
  figure.add(doubled(steps, limit, unit));
}

}  // namespace

extern const Figure kMemoryOver;
constinit const Figure kMemoryOver{
    .id = "memory_over",
    .title = "Memory over batch or sequence",
    .caption = "The peak of a step by kind of memory as batch or sequence grows to a card's memory, by closed form",
    .schema = kMemoryOverSchema,
    .basis = Basis::kSettings,
    .on_card = true,
    .add_panels = add_memory_over_panels,
};

}  // namespace headroom::lessons
