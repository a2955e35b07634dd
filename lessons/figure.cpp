// What all figures share: the head, and which axes a reader can act on.
#include "lessons/figure.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

void raise(std::optional<double>& highest, double value) { highest = std::max(highest.value_or(value), value); }

// Where a panel's reader can act.
struct AxesOf {
  Axes operator()(const Timeline& panel) const { return {panel.x, panel.y}; }
  Axes operator()(const Bars& panel) const { return {panel.x, {}}; }
  Axes operator()(const Rungs& panel) const { return {panel.peaks, panel.speeds}; }
  Axes operator()(const Chart& panel) const { return {panel.x, panel.y}; }
  Axes operator()(const Lanes& panel) const { return {panel.x, {}}; }
  Axes operator()(const Table&) const { return {}; }
  Axes operator()(const HeatMap&) const { return {}; }
  Axes operator()(const Diagram&) const { return {}; }
};

struct Guessed {
  const Axis* axis = nullptr;
  std::optional<double> highest = {};
};

struct GuessedOn {
  Guessed operator()(const Timeline& panel) const {
    Guessed guessed{&panel.y};
    for (const StackColumn& column : panel.stack)
      raise(guessed.highest,
            static_cast<double>(std::accumulate(column.high.begin(), column.high.end(), record::Bytes{})));
    return guessed;
  }
  Guessed operator()(const Rungs& panel) const { return {&panel.peaks}; }
  Guessed operator()(const Chart& panel) const {
    if (!panel.asked) return {};
    Guessed guessed{&panel.y};
    for (const ChartSeries& series : panel.series)
      for (const ChartPoint& point : series.points) raise(guessed.highest, point.y);
    return guessed;
  }
  template <class Other>
  Guessed operator()(const Other&) const {
    return {};
  }
};

Guessed guessed_on(const FigureData& figure) {
  for (const Panel& panel : figure.panels)
    if (const Guessed guessed = std::visit(GuessedOn{}, panel); guessed.axis != nullptr) return guessed;
  return {};
}

}  // namespace

std::size_t show_frame(FigureHead& head, const record::Params& params, std::size_t frames) {
  head.frames = frames;
  return std::min(static_cast<std::size_t>(params.integer(kFrameKey)), frames) - 1;
}

void set_run(FigureHead& head, const record::Recording& run, const record::Params& params) {
  head.source = run.info().source;
  head.provenance_line = provenance_line(run.info());
  head.provenance = full_provenance(run, params);
}

void set_step(FigureHead& head, std::int32_t step) {
  if (step >= 0) head.provenance["figure.step"] = std::to_string(step);
}

Axes axes_of(const FigureData& figure) {
  return figure.panels.empty() ? Axes{} : std::visit(AxesOf{}, figure.panels.front());
}

const Axis* guess_axis(const FigureData& figure) { return guessed_on(figure).axis; }

std::optional<double> highest_on_guess_axis(const FigureData& figure) { return guessed_on(figure).highest; }

FigureData Figure::build(const FigureInput& given) const {
  const record::Params defaults(schema);
  FigureInput input = given;
  if (input.params == nullptr) input.params = &defaults;
  FigureData figure;
  FigureHead& head = figure.head;
  head.id = id;
  head.title = title;
  head.source = record::Source::kFormula;
  if (basis == Basis::kParameters)
    for (const auto& [key, value] : input.params->to_map())
      if (input.params->in_use(key)) head.provenance["figure." + key] = value;
  if (basis == Basis::kRun) {
    head.source = record::Source::kRecorded;
    if (input.run == nullptr) {
      head.empty_reason = "Nothing has run yet.";
      return figure;
    }
    set_run(head, input.run->recording(), *input.params);
  }
  head.guess = input.view.guess;
  head.guess_locked = input.view.guess_locked;
  add_panels(figure, input);
  if (!head.empty_reason.empty()) figure.panels.clear();
  if (guess_axis(figure) == nullptr) head.guess.reset();
  return figure;
}

}  // namespace headroom::lessons
