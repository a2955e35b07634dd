// The ladder of techniques: what each switch saves of the peak and costs in speed.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/technique_table.h"
#include "lessons/axes.h"
#include "lessons/card_limit.h"
#include "lessons/measurements/sweep.h"
#include "lessons/params.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 3> kDeltas{
    {{"step", "to the rung before"}, {"naive", "to the first rung"}, {"a", "to run A"}}};
// The loss of one rung differed by this in two recorded runs, at the fifth step from a random start.
constexpr double kLossNoise = 0.3;
// The rung's speed differed by this share.
constexpr double kSpeedNoise = 0.01;

constexpr std::array kLadderWaterfallSchema{
    experiments::choice("delta", "Difference", "Run that each rung is compared with", kDeltas, "step"),
};

// "drops 8-bit moments, step in backward": settings of the rung before that this rung lacks.
std::string dropped(const SweepPoint& before, const SweepPoint& point) {
  const auto has = [](const SweepPoint& which, const experiments::Dropped& each) {
    return value_of(which.params, each.key) == each.value;
  };
  std::string text;
  for (const experiments::Technique* rung : experiments::ladder_techniques())
    for (const experiments::Dropped& each : rung->rung.drops)
      if (has(before, each) && !has(point, each))
        text += fmt::format("{}{}", text.empty() ? "drops " : ", ", each.words);
  return text;
}

// The page's words for a conflict that this program knows, else the recorded message.
std::string why_refused(const SweepPoint& point) {
  const auto params = record::Params::from_map(experiments::training_step().schema, point.params);
  const std::string words = params ? conflict_in_words(params.value()) : std::string();
  return words.empty() ? point.outcome.message : words;
}

bool is_off(const SweepPoint& point) {
  return point.outcome.kind == record::OutcomeKind::kCancelled && !point.outcome.message.empty();
}

bool runs_now(const SweepPoint& point) { return point.provenance.contains(std::string(kRunningPoint)); }

std::string source_of(const SweepPoint& point) {
  if (runs_now(point)) return "running";
  const std::string computed = value_of(point.provenance, kSourceOfPoint);
  if (computed.empty()) return value_of(point.provenance, kMadePoint);
  return computed == record::key_of(record::Source::kFormula) ? "closed form" : "predicted";
}

std::string tip_of(const SweepPoint& point, const std::string& machine, const ShownUnit& unit) {
  std::string tip = point_text(point, experiments::ladder_label(point.label), unit);
  if (is_computed(point)) return tip + " (not measured)";
  return machine.empty() || point.tokens_per_second <= 0 ? tip : tip + ", on " + machine;
}

Rung rung_of(const SweepPoint& point, bool first, const std::string& machine, const ShownUnit& unit) {
  Rung rung;
  rung.label = (first ? "" : "+ ") + experiments::ladder_label(point.label);
  rung.predicted = is_computed(point);
  rung.pending = point.provenance.contains(std::string(kPendingPoint));
  rung.tip = tip_of(point, machine, unit);
  if (point.outcome.kind == record::OutcomeKind::kCancelled) {  // cancelled by the reader, or still running
    rung.off = is_off(point);
    rung.note = rung.off ? "switched off" : "";
    rung.value = rung.off ? "" : "…";
    rung.tip = experiments::ladder_label(point.label) + (rung.off ? ": switched off" : ": running");
    return rung;
  }
  if (!completed(point) && !ran_out(point)) {
    rung.note = point.outcome.kind == record::OutcomeKind::kRefused ? why_refused(point)
                                                                    : "did not run: " + point.outcome.message;
    rung.tip = experiments::ladder_label(point.label) + ": " + rung.note;
    return rung;
  }
  rung.source = source_of(point);
  rung.bytes = point.peak.by_category;
  rung.out_of_memory = ran_out(point);
  rung.value = ran_out(point) ? "out of memory" : bytes_text(point.peak.allocated, unit);
  rung.speed.value = point.tokens_per_second;
  if (point.tokens_per_second > 0) rung.speed.text = speed_text(point.tokens_per_second);
  if (point.loss) rung.loss = fmt::format("{:.3f}", *point.loss);
  return rung;
}

// Run A's rung of the same switch, or null.
const SweepPoint* rung_of_a(const FigureInput& input, const SweepPoint& point) {
  if (input.baseline == nullptr) return nullptr;
  for (const SweepPoint& other : input.baseline->recording().sweep_points())
    if (other.series == point.series && other.label == point.label && completed(other)) return &other;
  return nullptr;
}

// While the answer is hidden, only the names are shown.
Rung hidden_rung(const SweepPoint& point) {
  Rung rung;
  rung.label = "+ " + experiments::ladder_label(point.label);
  rung.tip = rung.label;
  rung.off = is_off(point);
  return rung;
}

// "+1,200"; empty if either was not measured.
std::string speed_change(double speed, double than) {
  if (speed <= 0 || than <= 0) return {};
  if (speed == than) return "0";
  return (speed < than ? "−" : "+") + speed_text(std::abs(speed - than));
}

// Numbers of the rung that another is compared with; 0: unknown.
struct Compared {
  record::Bytes peak = 0;
  double speed = 0;
  std::string machine;

  // `always`: replaces known values; otherwise the first known values stay.
  void take(const Compared& next, bool always) {
    if (always || peak == 0) peak = next.peak;
    if (always || speed == 0) speed = next.speed;
    if (always || machine.empty()) machine = next.machine;
  }
};

Compared compared_with(const SweepPoint& point, const record::RunInfo& ladder) {
  return {point.peak.allocated, point.tokens_per_second, machine_of(ladder, point)};
}

// Rungs of different machines are not compared.
void compare_rung(Rung& rung, const SweepPoint& point, const std::string& machine, const Compared& with,
                  const ShownUnit& unit) {
  if (runs_now(point)) return;
  if (!comparable(machine, with.machine)) {
    if (completed(point)) rung.delta = "other machine";
    return;
  }
  if (completed(point) && with.peak > 0) {
    rung.before = with.peak;
    rung.delta = change_text(point.peak.allocated - with.peak, unit);
  }
  rung.speed.delta = speed_change(point.tokens_per_second, with.speed);
  rung.speed.told = std::abs(point.tokens_per_second - with.speed) > kSpeedNoise * with.speed;
}

std::string foot_of(const record::Recording& ladder, bool hidden) {
  const std::vector<SweepPoint>& points = ladder.sweep_points();
  const auto count = [&](auto is) { return std::ranges::count_if(points, is); };
  const auto has_bar = [](const SweepPoint& point) { return completed(point) || ran_out(point); };
  const auto computed = count([&](const SweepPoint& point) { return has_bar(point) && is_computed(point); });
  const auto measured = count([&](const SweepPoint& point) { return has_bar(point) && !is_computed(point); });
  std::string words;
  if (hidden) return words;
  if (computed > 0) words = measured > 0 ? "Dashed edge: predicted. Others: measured." : "Dashed edges: all predicted.";
  if (count([](const SweepPoint& point) { return point.provenance.contains(std::string(kPendingPoint)); }) > 0)
    words += fmt::format("{}Pale: not run yet.", words.empty() ? "" : " ");
  std::set<std::string> machines;
  for (const SweepPoint& point : points)
    if (has_bar(point)) machines.insert(machine_of(ladder.info(), point));
  machines.erase("");
  if (machines.size() > 1)
    words += fmt::format("{}Rungs of different machines are not compared.", words.empty() ? "" : " ");
  if (count([](const SweepPoint& point) { return point.loss.has_value(); }) > 1)
    words += fmt::format("{}The same rung, run twice, has differed by {} in loss and {:.0f} % in speed; less is noise.",
                         words.empty() ? "" : " ", kLossNoise, 100 * kSpeedNoise);
  return words;
}

// Marks the first rung that fits after rungs that do not.
void mark_first_fit(Rungs& panel, const std::vector<SweepPoint>& points) {
  bool larger = false;
  for (std::size_t i = 0; i < panel.rungs.size(); ++i) {
    const SweepPoint& point = points[i];
    if (runs_now(point) || (!completed(point) && !ran_out(point))) continue;
    if (ran_out(point) || point.peak.allocated > panel.card->bytes) {
      larger = true;
      continue;
    }
    if (!larger) return;
    Rung& rung = panel.rungs[i];
    rung.value += ", fits";
    rung.tip += fmt::format("; the first that fits on {}", panel.card->label);
    return;
  }
}

// Empty while the answer is hidden, and for cards far larger than the bars.
std::optional<CardLine> card_line(const FigureInput& input) {
  constexpr double kFar = 2;
  const std::optional<CardLimit>& card = input.view.card;
  if (!card || input.view.hidden) return std::nullopt;
  const record::Recording& ladder = input.run->recording();
  if (static_cast<double>(card->left()) > kFar * static_cast<double>(highest_peak(ladder))) return std::nullopt;
  return CardLine{card_label(*card, unit_of_peaks(ladder)), card->left()};
}

// While the answer is hidden, the axis covers only the first rung.
Axis peaks_axis(const FigureInput& input, const std::optional<CardLine>& card) {
  const auto& points = input.run->recording().sweep_points();
  const bool to_a = input.params->text("delta") == "a";
  record::Bytes highest = card ? card->bytes : 1;
  for (const SweepPoint& point : points) {
    if (input.view.hidden && &point != &points.front()) break;
    highest = std::max(highest, point.peak.allocated);
    const SweepPoint* const a = to_a && completed(point) ? rung_of_a(input, point) : nullptr;
    if (a != nullptr) highest = std::max(highest, a->peak.allocated);
  }
  return {.unit = AxisUnit::kBytes, .high = round_up_bytes(static_cast<double>(highest))};
}

void add_ladder_waterfall_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_sweep(figure.head, input)) return;
  const auto& points = input.run->recording().sweep_points();
  if (points.front().series != "ladder")
    return figure.leave_empty("This sweep is not the ladder: run `headroom sweep ladder`.");
  Rungs panel;
  panel.card = card_line(input);
  panel.peaks = peaks_axis(input, panel.card);
  const ShownUnit unit = unit_of(panel.peaks);
  double fastest = 1;
  Compared before;  // never a rung that did not fit: its peak is unknown
  const SweepPoint* last = nullptr;
  const bool to_a = params.text("delta") == "a" && input.baseline != nullptr;
  const bool to_before = params.text("delta") == "step";
  for (const SweepPoint& point : points) {
    const bool first = &point == &points.front();
    if (input.view.hidden && !first) {  // a hidden rung does not extend the axes
      panel.rungs.push_back(hidden_rung(point));
      continue;
    }
    const std::string machine = machine_of(input.run->recording().info(), point);
    Rung rung = rung_of(point, first, machine, unit);
    if (last != nullptr && completed(point)) {
      rung.note = dropped(*last, point);
      if (!rung.note.empty()) rung.tip += "; " + rung.note;
    }
    if (completed(point) && !runs_now(point)) last = &point;
    const SweepPoint* a = rung_of_a(input, point);
    const Compared with_a = a == nullptr ? Compared{} : compared_with(*a, input.baseline->recording().info());
    if (a != nullptr && completed(point) && comparable(machine, with_a.machine))
      rung.tip += fmt::format(". Run A: {}, B − A: {}", bytes_text(a->peak.allocated, unit),
                              change_text(point.peak.allocated - a->peak.allocated, unit));
    if (to_a) before = with_a;
    compare_rung(rung, point, machine, before, unit);
    if (completed(point) && !runs_now(point) && !to_a)
      before.take(compared_with(point, input.run->recording().info()), to_before);
    fastest = std::max(fastest, point.tokens_per_second);
    panel.rungs.push_back(std::move(rung));
  }
  if (panel.card) mark_first_fit(panel, points);
  panel.foot = foot_of(input.run->recording(), input.view.hidden);
  panel.speeds = number_axis(0, fastest, "tokens/s");
  if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
  figure.add(std::move(panel));
}

}  // namespace

extern const Figure kLadderWaterfall;
constinit const Figure kLadderWaterfall{
    .id = "ladder_waterfall",
    .title = "The ladder of techniques",
    .caption = "Peak memory by kind as switches are turned on, with the effect of each, the speed and the loss",
    .schema = kLadderWaterfallSchema,
    .basis = Basis::kLadder,
    .on_card = true,
    .add_panels = add_ladder_waterfall_panels,
};

}  // namespace headroom::lessons
