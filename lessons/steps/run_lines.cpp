// Lines of totals.
#include "lessons/steps/run_lines.h"

#include <algorithm>
#include <cmath>

#include "demos/experiments/same_work.h"
#include "demos/predict/time/bound_times.h"
#include "lessons/wording.h"

namespace headroom::lessons {

using record::Column;
using record::TimeMap;

bool is_predicted(const record::Recording& run) {
  return run.info().source == record::Source::kPredicted || run.info().source == record::Source::kFormula;
}

bool is_prediction_of(const record::Recording& prediction, const record::Recording& run) {
  const record::RunInfo &of_run = run.info(), &info = prediction.info();
  return info.source == record::Source::kPredicted && !is_predicted(run) && info.demo == of_run.demo &&
         info.device == of_run.device &&
         experiments::same_work(of_run.params, record::Params::known_of(schema_of(of_run), info.params), of_run);
}

record::TimeAxis axis_of(const record::Params& figure, const record::Recording& run) {
  const std::string& axis = figure.text("axis");
  if (axis == "phase" && is_predicted(run))
    return run.info().provenance.contains(std::string(predict::kBoundFact)) ? record::TimeAxis::kHost
                                                                            : record::TimeAxis::kEvent;
  return axis == "host"    ? record::TimeAxis::kHost
         : axis == "event" ? record::TimeAxis::kEvent
                           : record::TimeAxis::kDevice;
}

bool aligned(const record::Params& figure) { return figure.text("axis") == "phase"; }

namespace {

// The part of the axis that data fills, and how many of its columns.
struct Filled {
  double begin = 0, end = 0;
  int columns = 0;  // 0: no part
};

Filled filled(const Axis& x, double data_end, int columns) {
  const double begin = std::max(x.low, 0.0), end = std::min(x.high, data_end);
  if (!(end > begin)) return {};
  const double share = (end - begin) / (x.high - x.low);
  return {begin, end, std::max(1, static_cast<int>(std::lround(columns * share)))};
}

}  // namespace

std::vector<Column> columns_of(const record::Ledger& run, const TimeMap& map, const Axis& x, double data_end,
                               int columns) {
  const Filled part = filled(x, data_end, columns);
  return record::reduce(run, map, part.begin, part.end, part.columns);
}

std::array<bool, record::kNumCategories> quiet_kinds(const std::vector<Column>& columns) {
  std::array<bool, record::kNumCategories> quiet{};
  for (const record::Category category : {record::Category::kWeights, record::Category::kOptimizerState}) {
    const auto k = static_cast<std::size_t>(category);
    quiet[k] = std::ranges::all_of(columns, [&](const Column& column) {
      const record::Bytes first = columns.front().high.by_category[k];
      return first > 0 && column.high.by_category[k] == first && column.low.by_category[k] == first;
    });
  }
  return quiet;
}

int tone_of(record::Phase phase) {
  if (phase == record::Phase::kLoss || phase == record::Phase::kRecompute) return 1;
  return phase == record::Phase::kBackward ? 2 : phase == record::Phase::kOptimizer ? 3 : 0;
}

double high_total(const Column& column) { return static_cast<double>(column.high.allocated); }

// "RTX 4090", "H200"
std::string short_card(std::string card) {
  constexpr std::string_view kMaker = "GeForce ";
  if (card.starts_with(kMaker)) card.erase(0, kMaker.size());
  for (const std::string_view form : {" SXM", " PCIe"})
    if (card.ends_with(form)) card.resize(card.size() - form.size());
  return card;
}

std::string axis_name(const Timeline& panel, const record::Recording& run) {
  const std::string bound = value_of(run.info().provenance, predict::kBoundFact);
  if (panel.predicted && !bound.empty()) return "phases as wide as their bound on " + short_card(bound);
  if (panel.predicted) return "in the order of events";
  const auto has = [&](LineStyle style) {
    return std::ranges::any_of(panel.lines, [style](const auto& line) { return line.style == style; });
  };
  if (has(LineStyle::kBaseline)) return "phases as wide as in B";
  return has(LineStyle::kPredicted) || has(LineStyle::kFormula) ? "phases as wide as measured" : "";
}

OtherRun::OtherRun(const record::Ledger& run, const record::Params& figure, const TimeMap& map,
                   std::span<const record::PhaseSpan> spans)
    : run_(run),
      shown_map_(map),
      shown_spans_(spans.begin(), spans.end()),
      shown_(shown_range(run.recording(), figure)),
      map_(run.recording(), aligned(figure) ? axis_of(figure, run.recording()) : map.axis(), shown_.range.first,
           shown_.range.last),
      end_(aligned(figure) ? map.end() : map_.end()) {
  if (aligned(figure)) align({0, 0});
}

// `start`: a moment on the run's own axis and the figure's.
void OtherRun::align(std::pair<double, double> start) {
  const std::vector<record::PhaseSpan> own = record::phase_spans(run_.recording(), map_, shown_.range, true);
  to_.emplace(own, map_.end(), shown_spans_, shown_map_.end(), start);
  back_.emplace(shown_spans_, shown_map_.end(), own, map_.end(), std::pair{start.second, start.first});
}

void OtherRun::pair_with(const record::Ledger& shown) {
  pairs_.emplace(EventRange{shown, shown_map_.first(), shown_map_.last()}, EventRange{run_, map_.first(), map_.last()});
  const std::optional<Parting>& parting = pairs_->parting();
  if (!parting) return;
  parts_at_ = shown_map_.position(parting->run.value_or(shown_map_.last()));
  align({map_.position(parting->other.value_or(map_.last())), *parts_at_});
}

std::uint64_t OtherRun::event_from(double position) const {
  if (position >= end_) return map_.last();
  if (pairs_ && position <= parts_at_.value_or(end_)) return pairs_->other_from(shown_map_.event_from(position));
  return map_.event_from(back_ ? (*back_)(position) : position);
}

StepLine OtherRun::line(const Axis& x, int columns, LineStyle style) const {
  constexpr std::size_t kCoarse = 3;
  const Filled part = filled(x, end_, columns);
  const std::vector<Column> all = record::reduce(
      run_, [this](double position) { return event_from(position); }, part.begin, part.end, part.columns);
  const double fine_until = pairs_ ? parts_at_.value_or(end_) : 0;
  StepLine line{.style = style, .end = all.empty() ? 0 : all.back().end};
  for (std::size_t i = 0; i < all.size();) {
    line.x.push_back(all[i].begin);
    double& highest = line.y.emplace_back(0);
    const std::size_t last = std::min(all.size(), i + (pairs_ && all[i].begin <= fine_until ? 1 : kCoarse));
    for (; i < last; ++i) highest = std::max(highest, high_total(all[i]));
  }
  return line;
}

}  // namespace headroom::lessons
