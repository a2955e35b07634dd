// The ladder of techniques: how much of the peak each switch takes away, and what it costs in speed.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "lessons/axes.h"
#include "lessons/sweep.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kLadderWaterfall;

namespace {

constexpr std::array<record::Choice, 3> kDeltas{
    {{"step", "to the rung before"}, {"naive", "to the first rung"}, {"a", "to run A"}}};
// So much did the loss of one rung differ between two recorded runs, at the fifth step from a random start.
constexpr double kLossNoise = 0.3;
// And the speed of one rung on the device alone, as a part of it.
constexpr double kSpeedNoise = 0.01;

constexpr std::array kLadderWaterfallSchema{
    record::ParamSpec{.key = "delta",
                      .label = "Difference",
                      .help = "What each rung is compared with",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "step",
                      .choices = kDeltas},
};

// "drops 8-bit moments, step in backward": what the rung before had and this one has not.
std::string dropped(const SweepPoint& before, const SweepPoint& point) {
  const auto has = [](const SweepPoint& which, const experiments::TurnedOff& each) {
    const auto found = which.params.find(std::string(each.key));
    return found != which.params.end() && found->second == each.value;
  };
  std::string text;
  for (const experiments::TurnedOff& each : experiments::turned_off_later())
    if (has(before, each) && !has(point, each)) text += fmt::format("{}{}", text.empty() ? "drops " : ", ", each.words);
  return text;
}

// In the page's words where this program knows the conflict, else as it was said then.
std::string why_refused(const SweepPoint& point) {
  const auto params = record::Params::from_map(experiments::training_step().schema, point.params);
  const std::string words = params ? conflict_in_words(params.value()) : std::string();
  return words.empty() ? point.outcome.message : words;
}

// The reader has switched it off.
bool is_off(const SweepPoint& point) {
  return point.outcome.kind == record::OutcomeKind::kCancelled && !point.outcome.message.empty();
}

Rung rung_of(const SweepPoint& point, bool first, const ShownUnit& unit) {
  Rung rung;
  rung.label = (first ? "" : "+ ") + experiments::ladder_label(point.label);
  rung.predicted = is_computed(point);
  rung.tip =
      point_text(point, experiments::ladder_label(point.label), unit) + (rung.predicted ? " (not measured)" : "");
  if (point.outcome.kind == record::OutcomeKind::kCancelled) {  // by the reader, or it is on its way
    rung.off = is_off(point);
    rung.note = rung.off ? "switched off" : "";
    rung.value = rung.off ? "" : "…";
    rung.tip = experiments::ladder_label(point.label) + (rung.off ? ": switched off" : ": on its way");
    return rung;
  }
  if (!completed(point) && !ran_out(point)) {
    rung.note = point.outcome.kind == record::OutcomeKind::kRefused ? why_refused(point)
                                                                    : "did not run: " + point.outcome.message;
    rung.tip = experiments::ladder_label(point.label) + ": " + rung.note;
    return rung;
  }
  rung.bytes = point.peak_by_category;
  rung.out_of_memory = ran_out(point);
  rung.value = ran_out(point) ? "out of memory" : bytes_text(point.peak_allocated, unit);
  rung.speed = point.tokens_per_second;
  if (point.tokens_per_second > 0) rung.speed_text = speed_text(point.tokens_per_second);
  if (point.loss) rung.loss = fmt::format("{:.3f}", *point.loss);
  return rung;
}

// The rung of run A at the same switch; null: it has none that fits.
const SweepPoint* rung_of_a(const FigureInput& input, const SweepPoint& point) {
  if (input.baseline == nullptr) return nullptr;
  for (const SweepPoint& other : input.baseline->recording().sweep_points())
    if (other.series == point.series && other.label == point.label && completed(other)) return &other;
  return nullptr;
}

// What the question asks for: of the rungs but the first their names are known.
Rung hidden_rung(const SweepPoint& point) {
  Rung rung;
  rung.label = "+ " + experiments::ladder_label(point.label);
  rung.tip = rung.label;
  rung.off = is_off(point);
  return rung;
}

// "+1,200 tokens/s" without the unit; empty: one of the two is not measured.
std::string speed_change(double speed, double than) {
  if (speed <= 0 || than <= 0) return {};
  if (speed == than) return "0";
  return (speed < than ? "−" : "+") + speed_text(std::abs(speed - than));
}

// How the rungs are to be read: which are measured, and what is noise.
std::string foot_of(const std::vector<SweepPoint>& points, bool hidden) {
  const auto count = [&](auto is) { return std::ranges::count_if(points, is); };
  const auto has_bar = [](const SweepPoint& point) { return completed(point) || ran_out(point); };
  const auto computed = count([&](const SweepPoint& point) { return has_bar(point) && is_computed(point); });
  const auto measured = count([&](const SweepPoint& point) { return has_bar(point) && !is_computed(point); });
  std::string words;
  if (hidden) return words;
  if (computed > 0) words = measured > 0 ? "Dashed edge: predicted. Others: measured." : "Dashed edges: all predicted.";
  if (count([](const SweepPoint& point) { return point.loss.has_value(); }) > 1)
    words += fmt::format("{}The same rung, run twice, has differed by {} in loss and {:.0f} % in speed; less is noise.",
                         words.empty() ? "" : " ", kLossNoise, 100 * kSpeedNoise);
  return words;
}

// Of what is shown: nothing but the first rung while the others are the answer.
Axis peaks_axis(const FigureInput& input) {
  const auto& points = input.run->recording().sweep_points();
  const bool to_a = input.params->text("delta") == "a";
  record::Bytes highest = 1;
  for (const SweepPoint& point : points) {
    if (input.view.hidden && &point != &points.front()) break;
    highest = std::max(highest, point.peak_allocated);
    const SweepPoint* const a = to_a && completed(point) ? rung_of_a(input, point) : nullptr;
    if (a != nullptr) highest = std::max(highest, a->peak_allocated);
  }
  return {.unit = AxisUnit::kBytes, .low = 0, .high = round_up_bytes(static_cast<double>(highest))};
}

void add_ladder_waterfall_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_sweep(figure.head, input)) return;
  const auto& points = input.run->recording().sweep_points();
  if (points.front().series != "ladder") {
    figure.head.empty_reason = "This sweep is not the ladder: `headroom sweep ladder` makes one.";
    return;
  }
  Rungs panel;
  panel.peaks = peaks_axis(input);
  const ShownUnit unit = unit_of(panel.peaks);
  double fastest = 1;
  record::Bytes before = 0;          // nothing is compared with a rung that did not fit: its peak is not known
  double speed_before = 0;           // the same; 0: not known
  const SweepPoint* last = nullptr;  // the last that ran
  const bool to_a = params.text("delta") == "a" && input.baseline != nullptr;
  for (const SweepPoint& point : points) {
    const bool first = &point == &points.front();
    if (input.view.hidden && !first) {  // nor is it on the axes
      panel.rungs.push_back(hidden_rung(point));
      continue;
    }
    Rung rung = rung_of(point, first, unit);
    if (last != nullptr && completed(point)) {
      rung.note = dropped(*last, point);
      if (!rung.note.empty()) rung.tip += "; " + rung.note;
    }
    if (completed(point)) last = &point;
    const SweepPoint* a = rung_of_a(input, point);
    if (a != nullptr && completed(point))
      rung.tip += fmt::format(". Run A: {}, B − A: {}", bytes_text(a->peak_allocated, unit),
                              change_text(point.peak_allocated - a->peak_allocated, unit));
    if (completed(point) && to_a) {
      rung.before = a == nullptr ? 0 : a->peak_allocated;
      rung.delta = a == nullptr ? "" : change_text(point.peak_allocated - a->peak_allocated, unit);
    } else if (completed(point)) {
      if (before > 0) {
        rung.before = before;
        rung.delta = change_text(point.peak_allocated - before, unit);
      }
      if (params.text("delta") == "step" || before == 0) before = point.peak_allocated;
    }
    const double than = to_a ? (a == nullptr ? 0 : a->tokens_per_second) : speed_before;
    rung.speed_delta = speed_change(point.tokens_per_second, than);
    rung.speed_told = std::abs(point.tokens_per_second - than) > kSpeedNoise * than;
    const bool to_before = params.text("delta") == "step";
    if (completed(point) && (to_before || speed_before == 0)) speed_before = point.tokens_per_second;
    fastest = std::max(fastest, point.tokens_per_second);
    panel.rungs.push_back(std::move(rung));
  }
  panel.foot = foot_of(points, input.view.hidden);
  panel.speeds = {.unit = AxisUnit::kNumber, .low = 0, .high = fastest, .name = "tokens/s"};
  if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
  figure.panels.emplace_back(std::move(panel));
}

}  // namespace

constinit const Figure kLadderWaterfall{
    .id = "ladder_waterfall",
    .title = "The ladder of techniques",
    .caption =
        "Peak memory by kind with one switch after the other, the difference of each, tokens per second and loss",
    .schema = kLadderWaterfallSchema,
    .basis = Basis::kLadder,
    .add_panels = add_ladder_waterfall_panels,
};

}  // namespace headroom::lessons
