// A figure is a pure function from a recording (or parameters alone) and a view to a description. The window and all
// exporters paint the same description (app/paint/layout/layout.h), so that exports match the screen.
//
//   FigureData = FigureHead head + vector<Panel> panels (lessons/panels)
//     Timeline    memory over time by kind; live tensors at one moment
//     Bars        a peak by category
//     Rungs       the ladder of techniques (bars.h)
//     Chart       series over categories or numbers
//     Lanes       kernels by stream, alone or below a Timeline
//     Table       words and numbers
//     HeatMap     a number per cell
//     Diagram     boxes with states, and arrows
//     AddressMap  segments, blocks and gaps
//     Traffic     one operation's kernels: times, speeds, bytes
//
// Each panel gives its own numbers and words for files (lessons/panels/file_table.h). A new kind of panel needs a type
// in the variant below and a function lay_out_panel() (app/paint/layout/sheet.h).
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

namespace headroom::experiments {
struct AdvisedSet;
}

namespace headroom::lessons {

struct FigureHead {
  std::string id;
  std::string title;
  record::Source source = record::Source::kRecorded;
  std::string provenance_line;                    // "NVIDIA H200, bf16, batch 4, 1,024 tokens"
  std::map<std::string, std::string> provenance;  // written into exported files
  std::string caption;                            // in files: a sentence below provenance_line
  std::string empty_reason;
  bool growing = false;         // the run is in progress
  std::optional<double> guess;  // the reader's guess on guess_axis()
  bool guess_open = false;      // the guess's pill can be dragged; else the pill says "you said"
  std::size_t frames = 0;       // 0: not animated
};

using Panel = std::variant<Timeline, Bars, Rungs, Chart, Lanes, Table, HeatMap, Diagram, AddressMap, Traffic>;

struct FigureData {
  FigureHead head;
  std::vector<Panel> panels;  // in reading order

  void add(Panel panel) { panels.push_back(std::move(panel)); }
  void leave_empty(std::string_view why) { head.empty_reason = why; }
};

inline constexpr std::string_view kIsAnswer = "The figure is the answer: lock yours, or skip.";
inline constexpr std::string_view kPartOfAnswer = "This is part of the answer: it appears once you have answered.";

template <class Kind>
const Kind* panel_of(const FigureData& figure) {
  for (const Panel& panel : figure.panels)
    if (const Kind* found = std::get_if<Kind>(&panel)) return found;
  return nullptr;
}

template <class Kind>
std::vector<const Kind*> panels_of(std::span<const Panel> panels) {
  std::vector<const Kind*> found;
  for (const Panel& panel : panels)
    if (const Kind* each = std::get_if<Kind>(&panel)) found.push_back(each);
  return found;
}

// The unit of the figure's bytes axis or, without such an axis, the unit that suits `largest`.
ShownUnit unit_of_bytes(const FigureData& figure, double largest);

// Parameter of animated figures (frame_param()): the frame shown, from 1.
inline constexpr std::string_view kFrameKey = "frame";
// Sets head.frames and returns the shown frame's index, from 0.
std::size_t show_frame(FigureHead& head, const record::Params& params, std::size_t frames);

// Sets source and provenance from the run.
void set_run(FigureHead& head, const record::Recording& run, const record::Params& params);
// Adds settings in use to the provenance.
void add_settings(FigureHead& head, const record::Params& settings);
// Adds the step to the provenance unless negative (the figure shows several steps).
void set_step(FigureHead& head, std::int32_t step);

Axes axes_of(const FigureData& figure);

// The axis of the reader's guess: y of a timeline or of the chart asked about, x of rungs; null for other figures.
const Axis* guess_axis(const FigureData& figure);

struct CardLimit {
  std::string name;          // "GeForce RTX 4090", or a limit's size, "24 GiB"
  record::Bytes memory = 0;  // as the driver reports it
  predict::ProcessBytes process = {};

  record::Bytes left() const { return memory - process.bytes; }
};

// The reader's view. By default, the last whole step with everything shown.
struct View {
  std::optional<double> begin, end;  // x range in axis units
  std::optional<double> cursor;
  std::optional<double> guess;                     // in the unit of the page's question
  bool guess_open = false;                         // the reader can still move the guess
  double guess_room = 0;                           // the guess's axis ends here or higher
  bool hidden = false;                             // hides the answer, such as all after the forward pass
  bool asked = false;                              // the page asks: axes stay as while the answer is hidden
  int columns = 1000;                              // about one per pixel
  std::optional<CardLimit> card;                   // empty: the run's limit or device, else 24 GiB
  std::optional<std::size_t> kernel;               // index into kernel_spans()
  std::string find;                                // text to find in operation and kernel names
  std::optional<std::pair<double, double>> range;  // marked x range
};

struct FigureInput {
  const record::Ledger* run = nullptr;            // rank 0's, or build()'s choice; null: nothing recorded yet
  std::vector<const record::Ledger*> ranks = {};  // all ranks of the run; set by build()
  const record::Ledger* baseline = nullptr;       // run A, if pinned
  const record::Params* params = nullptr;         // the figure's parameters; null: defaults
  const record::Params* settings = nullptr;       // the reader's settings; null: the run's
  const record::Ledger* predicted = nullptr;      // prediction for these settings; null: unknown
  const record::Ledger* formula = nullptr;        // closed form, a line over the run; null: none
  const std::vector<experiments::AdvisedSet>* advised = nullptr;  // predicted, for `settings`; null: unknown
  std::span<const record::Ledger* const> beside = {};             // the page's runs of other demos
  std::span<const experiments::SweepAxis> sweep = {};
  View view;
};

// The source of a figure's numbers.
enum class Basis : std::uint8_t {
  kRun,         // a run; empty without one
  kSettings,    // the reader's settings, with a prediction and the shown run
  kFormula,     // closed form of the figure's parameters and the reader's (or default) settings
  kSweep,       // a sweep; before it has run, the closed form of the reader's settings
  kLadder,      // a ladder; on a page, with the reader's switches, and unmeasured rungs are predicted
  kParameters,  // closed form of the figure's parameters alone
};

// One kind of figure, declared in lessons/figures/<id>.cpp as `constinit const Figure k…`.
struct Figure {
  std::string_view id;       // "memory_timeline"
  std::string_view title;    // "Memory over one step"
  std::string_view caption;  // one sentence for lists and alternative text
  record::Schema schema;     // parameters: axis, step, …
  Basis basis = Basis::kRun;
  bool on_card = false;       // uses the view's card even without a run
  bool takes_advice = false;  // uses FigureInput::advised
  bool compares = false;      // compares the run with its prediction, which commands then ask for
  // Adds the panels or sets head.empty_reason. Before the call, the head is filled, and input.params is not null.
  void (*add_panels)(FigureData& figure, const FigureInput& input);

  FigureData build(const FigureInput& input) const;
};

std::span<const Figure* const> figures();
const Figure* find_figure(std::string_view id);

// True if the figure follows the page's settings and needs no run.
bool follows_settings(const Figure& figure);
// True if the figure needs neither a run nor settings.
bool is_closed_form(const Figure& figure);

}  // namespace headroom::lessons
