// A figure is a pure function: a recording (or parameters alone) and a view go in, a description comes out. The window and
// all exporters paint the same description (app/paint/layout/layout.h), so what is exported equals what is seen.
//
//   FigureData = FigureHead head + vector<Panel> panels
//     Timeline  lessons/panels/timeline.h   memory over time, stacked by kind; what is alive at one moment
//     Bars      lessons/panels/bars.h       a peak by category
//     Rungs     lessons/panels/bars.h       the ladder of techniques
//     Chart     lessons/panels/chart.h      series over named places or a number; several are side by side
//     Lanes     lessons/panels/lanes.h      kernels on their streams; after a Timeline, below it on its axis
//     Table     lessons/panels/table.h      words and numbers
//     HeatMap   lessons/panels/heat_map.h   a number per cell; several are side by side
//     Diagram   lessons/panels/diagram.h    boxes and arrows, each box with a state
//     AddressMap lessons/panels/address_map.h  segments, the blocks in them and the gaps between
//     Traffic   lessons/panels/traffic.h    one operation's kernels: their times, their speeds, their bytes
//
// What depends on the kind of a panel is one std::visit each: layout (app/paint/layout/layout.cpp), CSV and JSON
// (app/paint/files/table.cpp), words (app/paint/layout/description.cpp), interaction (lessons/figure.cpp).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "demos/predict/fits.h"
#include "demos/record/ledger.h"
#include "demos/record/schema.h"
#include "demos/record/timeline.h"
#include "demos/record/units.h"
#include "lessons/panels/address_map.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/bars.h"
#include "lessons/panels/chart.h"
#include "lessons/panels/diagram.h"
#include "lessons/panels/heat_map.h"
#include "lessons/panels/lanes.h"
#include "lessons/panels/table.h"
#include "lessons/panels/timeline.h"
#include "lessons/panels/traffic.h"

namespace headroom::lessons {

struct FigureHead {
  std::string id;
  std::string title;
  record::Source source = record::Source::kRecorded;
  std::string provenance_line;                    // "NVIDIA H200, bf16, batch 4, 1,024 tokens"
  std::map<std::string, std::string> provenance;  // into every exported file
  std::string caption;                            // of a file: a sentence below that line; may be empty
  std::string empty_reason;                       // why there is nothing to draw; empty: there is
  bool growing = false;                           // the run goes on
  std::optional<double> guess;                    // the reader's, on the axis that guess_axis() names
  bool guess_open = false;                        // a pill to drag, with or without a guess; false: "you said"
  std::size_t frames = 0;                         // that it plays, one at a time; 0: it does not move
};

using Panel = std::variant<Timeline, Bars, Rungs, Chart, Lanes, Table, HeatMap, Diagram, AddressMap, Traffic>;

struct FigureData {
  FigureHead head;
  std::vector<Panel> panels;  // in reading order; none where there is nothing to draw
};

// The first panel of that kind; null: the figure has none.
template <class Kind>
const Kind* panel_of(const FigureData& figure) {
  for (const Panel& panel : figure.panels)
    if (const Kind* found = std::get_if<Kind>(&panel)) return found;
  return nullptr;
}

// All panels of that kind, in order.
template <class Kind>
std::vector<const Kind*> panels_of(std::span<const Panel> panels) {
  std::vector<const Kind*> found;
  for (const Panel& panel : panels)
    if (const Kind* each = std::get_if<Kind>(&panel)) found.push_back(each);
  return found;
}

// In which the figure counts bytes: the unit of its axis of bytes; where it has none, the one that suits `largest`.
ShownUnit unit_of_bytes(const FigureData& figure, double largest);

// A figure that plays has this parameter in its schema: the number of the frame that is shown, from 1.
inline constexpr std::string_view kFrameKey = "frame";
constexpr record::ParamSpec frame_param(double default_number) {
  return {.key = kFrameKey,
          .label = "Step",
          .help = "Number of the step that is shown, from 1; the last one if there are fewer",
          .kind = record::ParamKind::kInteger,
          .minimum = 1,
          .maximum = 1'000'000,
          .default_number = default_number};
}
// Says that the figure has `frames` frames; returns the index of the one to show, from 0.
std::size_t show_frame(FigureHead& head, const record::Params& params, std::size_t frames);

// Says whose numbers the figure shows, with its parameters.
void set_run(FigureHead& head, const record::Recording& run, const record::Params& params);
// Which step of the run; negative: not one step.
void set_step(FigureHead& head, std::int32_t step);

// The axes of the first panel; bytes from 0 to 1 for an axis that it lacks.
struct Axes {
  Axis x, y;
};
Axes axes_of(const FigureData& figure);

// The axis that carries the reader's guess: y of a timeline, x of rungs, y of the chart that is asked about; null: none.
const Axis* guess_axis(const FigureData& figure);

// What a step is to fit on.
struct CardLimit {
  std::string name;          // "GeForce RTX 4090"; of a limit its size, "24 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process = {};

  record::Bytes left() const { return memory - process.bytes; }  // to the allocator
};

// What the reader looks at. All optional: a default view is the last whole step, everything shown.
struct View {
  std::optional<double> begin, end;   // x range, axis units
  std::optional<double> cursor;       // x
  std::optional<double> guess;        // in the unit of the page's question
  bool guess_open = false;            // the reader can still move it
  double guess_room = 0;              // the axis of the guess reaches at least this value
  bool hidden = false;                // hide what the question asks for (after the forward pass)
  bool asked = false;                 // the page has a question: keep the axes that it had while the answer was hidden
  int columns = 1000;                 // resolution: about one per pixel
  std::optional<CardLimit> card;      // that steps are held against; nothing: a run's own limit or device, else 24 GiB
  std::optional<std::size_t> kernel;  // that is selected: its place in the recording's kernel_spans()
  std::string find;                   // kernels by this part of their names; empty: nothing is searched
  std::optional<std::pair<double, double>> range;  // x, that is measured
};

struct FigureInput {
  const record::Ledger* run = nullptr;        // null: nothing recorded yet
  const record::Ledger* baseline = nullptr;   // the run to compare with (run A), if one is pinned
  const record::Params* params = nullptr;     // of the figure's schema; null: defaults
  const record::Params* settings = nullptr;   // the reader's, of the page's demo or schema; null: those of the run
  const record::Ledger* predicted = nullptr;  // with these settings; null: not known
  const record::Ledger* formula = nullptr;    // by the closed form, as a line over the run; null: not wanted
  std::span<const record::Ledger* const> beside = {};  // runs of other demos, on some device each; of the page
  std::span<const experiments::SweepAxis> sweep = {};  // that the page makes; empty: none
  View view;
};

// What a figure is drawn from.
enum class Basis : std::uint8_t {
  kRun,         // a run: without one it is empty
  kSettings,    // the reader's settings, beside a prediction and the run on show
  kFormula,     // the reader's settings, else a schema's first ones, and its own parameters, by closed form
  kSweep,       // a sweep; until the page's has run, the reader's settings by closed form
  kLadder,      // a ladder: on a page its switches are the reader's, and what no run measured is predicted
  kParameters,  // its own parameters alone, by closed form
};

// One kind of figure, declared once in lessons/figures/<id>.cpp as `constinit const Figure k…`.
struct Figure {
  std::string_view id;       // "memory_timeline"
  std::string_view title;    // "Memory over one step"
  std::string_view caption;  // one sentence for lists and for alternative text
  record::Schema schema;     // axis, step, …
  Basis basis = Basis::kRun;
  bool on_card = false;  // without a run, too, it holds steps against the view's card
  // Adds the panels, or says why there are none in head.empty_reason. The head is filled, and input.params is not null.
  void (*add_panels)(FigureData& figure, const FigureInput& input);

  FigureData build(const FigureInput& input) const;
};

std::span<const Figure* const> figures();
const Figure* find_figure(std::string_view id);  // null: unknown

// It can be drawn without a run, and follows the page's settings.
bool follows_settings(const Figure& figure);
// It can be drawn from nothing: without a run and without settings.
bool is_closed_form(const Figure& figure);

}  // namespace headroom::lessons
