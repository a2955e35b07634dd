// Figure heads, and the axes that readers can act on.
#include "lessons/figure.h"

#include <algorithm>

#include <fmt/format.h>

#include "lessons/axes.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

Axes axes_in(const Panel& panel) {
  return std::visit(
      [](const auto& kind) {
        if constexpr (requires { kind.axes(); })
          return kind.axes();
        else
          return Axes{};
      },
      panel);
}

std::vector<const record::Ledger*> ranks_of(const record::Ledger& first) {
  std::vector<const record::Ledger*> ranks{&first};
  for (const record::Ledger& other : first.other_ranks()) ranks.push_back(&other);
  return ranks;
}

// Replaces the run by the rank that the figure's parameters name.
void choose_rank(FigureInput& input) {
  input.ranks = ranks_of(*input.run);
  if (!input.params->has(kRankParam.key)) return;
  const auto rank = std::min(static_cast<std::size_t>(input.params->integer(kRankParam.key)), input.ranks.size() - 1);
  input.run = input.ranks[rank];
  if (input.baseline != nullptr)
    if (const auto others = ranks_of(*input.baseline); rank < others.size()) input.baseline = others[rank];
}

}  // namespace

const Figure* find_figure(std::string_view id) {
  const auto all = figures();
  const auto found = std::ranges::find(all, id, &Figure::id);
  return found == all.end() ? nullptr : *found;
}

bool follows_settings(const Figure& figure) {
  return figure.basis == Basis::kSettings || figure.basis == Basis::kFormula || figure.basis == Basis::kSweep;
}

bool is_closed_form(const Figure& figure) {
  return figure.basis == Basis::kFormula || figure.basis == Basis::kParameters;
}

std::size_t show_frame(FigureHead& head, const record::Params& params, std::size_t frames) {
  head.frames = frames;
  return std::min(static_cast<std::size_t>(params.integer(kFrameKey)), frames) - 1;
}

void set_run(FigureHead& head, const record::Recording& run, const record::Params& params) {
  head.source = run.info().source;
  head.provenance_line = provenance_line(run.info());
  if (run.truncated()) head.provenance_line += ", " + cut_off_words(run);
  head.provenance = full_provenance(run, params);
}

void add_settings(FigureHead& head, const record::Params& settings) {
  for (const auto& [key, value] : settings.to_map())
    if (settings.in_use(key)) head.provenance["setting." + key] = value;
}

void set_step(FigureHead& head, std::int32_t step) {
  if (step >= 0) head.provenance["figure.step"] = std::to_string(step);
}

Axes axes_of(const FigureData& figure) { return figure.panels.empty() ? Axes{} : axes_in(figure.panels.front()); }

ShownUnit unit_of_bytes(const FigureData& figure, double largest) {
  for (const Panel& panel : figure.panels) {
    if (const auto* bars = std::get_if<Bars>(&panel)) return byte_unit(static_cast<double>(bars->total));
    const Axes axes = axes_in(panel);
    const bool along_x = std::holds_alternative<Rungs>(panel);
    const Axis& axis = along_x ? axes.x : axes.y;
    const bool has_axes = along_x || std::holds_alternative<Timeline>(panel) || std::holds_alternative<Chart>(panel);
    if (has_axes && axis.unit == AxisUnit::kBytes) return unit_of(axis);
  }
  return byte_unit(largest);
}

const Axis* guess_axis(const FigureData& figure) {
  for (const Panel& panel : figure.panels) {
    if (const auto* timeline = std::get_if<Timeline>(&panel)) return &timeline->y;
    if (const auto* rungs = std::get_if<Rungs>(&panel)) return &rungs->peaks;
    if (const auto* chart = std::get_if<Chart>(&panel); chart != nullptr && chart->asked) return &chart->y;
  }
  return nullptr;
}

FigureData Figure::build(const FigureInput& given) const {
  const record::Params defaults(schema);
  FigureInput input = given;
  if (input.params == nullptr) input.params = &defaults;
  input.view.guess_room = std::max(input.view.guess_room, input.view.guess.value_or(0));
  FigureData figure;
  FigureHead& head = figure.head;
  head.id = id;
  head.title = title;
  head.source = record::Source::kFormula;
  if (is_closed_form(*this))
    for (const auto& [key, value] : input.params->to_map())
      if (input.params->in_use(key)) head.provenance["figure." + key] = value;
  if (basis == Basis::kRun || basis == Basis::kLadder) {
    head.source = record::Source::kRecorded;
    if (input.run == nullptr) {
      head.empty_reason = "Nothing has run yet.";
      return figure;
    }
    choose_rank(input);
    set_run(head, input.run->recording(), *input.params);
  }
  head.guess = input.view.guess;
  head.guess_open = input.view.guess_open;
  add_panels(figure, input);
  if (input.run != nullptr && input.run->recording().truncated()) {
    head.growing = false;
    if (!head.empty_reason.empty())
      head.empty_reason = fmt::format("The file was {}.", cut_off_words(input.run->recording()));
  }
  if (!head.empty_reason.empty()) figure.panels.clear();
  if (auto* const axis = const_cast<Axis*>(guess_axis(figure))) {
    axis->shown = unit_of(*axis);  // keeps the panel's unit if the axis grows
    make_room(*axis, input.view.guess_room);
  } else {
    head.guess.reset();
    head.guess_open = false;
  }
  return figure;
}

}  // namespace headroom::lessons
