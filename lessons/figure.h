// Figures are pure functions: a recording (or a formula) and a view go in, a description comes out. The window and all
// exporters paint the same description (app/paint/layout/layout.h), so what is exported equals what is seen.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/schema.h"
#include "demos/record/timeline.h"
#include "demos/record/units.h"

namespace headroom::lessons {

enum class AxisUnit : std::uint8_t {
  kBytes,
  kNanoseconds,
  kEvents,
  kBytesPerSecond,
  kPercent,
  kFlopsPerByte,
  kFlopsPerSecond,
  kSteps,     // of training, counted from 0
  kNumber,    // what it counts is the axis's name
  kCategory,  // 0, 1, 2, … with names
};

struct Axis {
  AxisUnit unit = AxisUnit::kBytes;
  double low = 0;
  double high = 1;
  bool logarithmic = false;  // charts only
  std::string name = {};     // charts only, what the unit does not say: "hidden size H"
};

// Where a value stands on an axis, from 0 to 1; and back.
double part_of(const Axis& axis, double value);
double value_at(const Axis& axis, double part);

// A phase above the plot. Tone: which of the four greys (look.md §4); half: recompute, half height inside backward.
struct Band {
  std::string label;
  std::string short_label;  // where that does not fit; may be empty
  double begin = 0, end = 0;
  int tone = 0;
  bool half = false;
};

// One column of a stack: bytes by category from the bottom, at the highest and the lowest total of its events.
struct StackColumn {
  double begin = 0, end = 0;
  record::ByCategory high{};
  record::ByCategory low{};
};

enum class LineStyle : std::uint8_t {
  kReserved,  // thin, second text colour, label on the line
  kProcess,   // thin and dotted
  kGhost,     // run A behind run B
};

// A step function: y[i] holds over [x[i], x[i+1]); the last one to `end`.
struct StepLine {
  std::string label;        // "reserved by the allocator 22.8 GiB"
  std::string short_label;  // where that does not fit
  LineStyle style = LineStyle::kReserved;
  std::vector<double> x, y;
  double end = 0;
};

// The card's memory: danger line, and a zone above it that does not fit.
struct CapLine {
  std::string label;  // "24 GiB card"
  double y = 0;
};

struct PeakMark {
  double x = 0, y = 0;
  std::string label;  // "peak 22.3 GiB"
};

// The allocation that did not succeed, on top of what was alive; the run ends here.
struct FailedRequest {
  double x = 0;
  double base = 0;    // bytes allocated when it was asked for
  double bytes = 0;   // what was asked for
  std::string label;  // "asked for 3.91 GiB"
};

// One horizontal bar of "peak by category".
struct Bar {
  record::Category category = record::Category::kOther;
  std::string label;
  double value = 0;                  // bytes
  std::string value_text;            // "1.96 GiB"
  std::string note;                  // "8.8 %"
  std::optional<double> ghost = {};  // bytes of run A
};

struct ListRow {
  record::Category category = record::Category::kOther;
  std::string name;   // "Logits"
  std::string where;  // "layers 0 to 9"; outside the layers "145 tensors"
  record::Bytes bytes = 0;
  std::uint64_t tensors = 0;
};

// What is alive at one moment, ranked; sums to `total` with what `more_*` folds away.
struct AliveList {
  double position = 0;
  bool at_cursor = false;  // the reader put it there: a line and a chip show where; else see FigureData::cursor
  std::string when;        // "37.7 ms, loss"
  record::Bytes total = 0;
  std::vector<ListRow> rows;
  std::uint64_t more_count = 0;
  record::Bytes more_bytes = 0;
};

// requested ≤ allocated ≤ reserved ≤ process ≤ device: a rung is absent where nothing measured it.
struct LadderRung {
  std::string label;
  record::Bytes bytes = 0;
};

// Whose numbers a series of a chart has: its ink, its mark and its line. Colour belongs to memory.
enum class SeriesKind : std::uint8_t { kFused, kEager, kLibrary, kOther };

struct ChartPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;    // quantiles 0.2 and 0.8 of y; both y where there is no spread
  std::string label = {};      // "42 µs", where there is room
  std::string tip = {};        // "RMSNorm, 8,192 × 4,096: 42 µs (41 to 43), 51 repeats"
  bool out_of_memory = false;  // y is what was allocated until then
};

struct ChartSeries {
  std::string label;  // "eager"
  SeriesKind kind = SeriesKind::kOther;
  bool ghost = false;                             // published elsewhere: behind the others, hollow and dashed
  std::optional<record::Category> category = {};  // of bars: memory of this kind, in its colour
  std::vector<ChartPoint> points;
};

// What the device itself can do, dashed: a level or a roof. Two points or more.
struct ChartReference {
  std::string label;  // "copy, 4.27 TB/s"
  std::vector<double> x, y;
};

// A stretch of the x axis behind the series, with its name at the top. Tone: which of the phases' greys.
struct ChartSpan {
  std::string label;
  double low = 0, high = 0;
  int tone = 0;
};

// One plot of series over named places or a number; several stand side by side.
struct Chart {
  std::string title;  // above it; empty where the figure's title says it
  Axis x, y;
  std::vector<std::string> categories;  // of an x axis of kCategory
  bool bars = false;                    // else marks joined by lines
  bool joined = true;                   // marks: false where neighbours are no sequence
  bool stacked = false;                 // bars of one place stand on each other, the first series at the bottom
  std::vector<ChartSeries> series;
  std::vector<ChartReference> references;
  std::vector<ChartSpan> spans;
};

// One rung of the ladder of techniques: the peak with this switch and all before it. One that ran out of memory has what
// was alive then; one that did not run has no bytes.
struct Rung {
  std::string label;  // "+ checkpointing"
  record::ByCategory bytes{};
  record::Bytes before = 0;  // total of the rung that this one is compared with; 0: none
  bool out_of_memory = false;
  std::string value;       // "12.34 GiB"
  std::string delta;       // "−3.10 GiB"
  double speed = 0;        // tokens/s; 0: not measured
  std::string speed_text;  // "71,400"
  std::string loss;        // "5.251"
  std::string note;        // instead of a bar: why there is none
  std::string tip;
};

// Rows of words with numbers under heads, at the right.
struct TableRow {
  std::optional<record::Category> category;
  std::string name;  // "Optimizer state"
  std::string note;  // below it: "12 · P = 12 × 1,235,814,400"
  std::vector<std::string> cells;
  std::string tip;
};
struct Table {
  std::string head;                  // over the names
  std::vector<std::string> columns;  // "formula", "measured"; as many as a row has cells
  std::vector<TableRow> rows;
  std::string foot;  // a sentence below
};

// Numbers in cells, one grey ramp from the least to the most.
struct HeatMap {
  std::string title;
  std::vector<std::string> columns, rows;      // names of the places, as many as cells; or no columns
  int named_every = 1;                         // below the columns stands the name in the middle of each so many
  std::vector<std::vector<double>> cells;      // by row; not a number: an empty cell
  double low = 0, high = 1;                    // of the ramp
  std::string low_text, high_text;             // what the ends of the ramp mean
  std::vector<std::vector<std::string>> tips;  // of the cells; may be empty
  bool numbers = true;                         // written into the cells, where there is room
};

// What ran: a kernel of this repository, a matrix product or attention, another kernel; a copy or memset; a call of the
// host.
enum class Work : std::uint8_t { kOurs, kProduct, kOther, kMove, kHost };

// One kernel, or several that are too short to stand apart.
struct TimeBox {
  double begin = 0, end = 0;
  Work work = Work::kOther;
  int count = 1;
  record::Bytes bytes = record::kUnknownBytes;  // of one kernel
  std::string label;                            // "silu", where there is room
  std::string tip;
};

// One lane of a kernel timeline: the host, or a stream of the device.
struct TimeRow {
  std::string label;   // "Device"
  std::string note;    // above it, over all lanes of a run: "634 launches, 41.0 ms of kernels, …"
  bool ghost = false;  // of run A
  std::vector<TimeBox> boxes;
};

struct FigureData {
  std::string id;
  std::string title;
  record::Source source = record::Source::kRecorded;
  std::string provenance_line;                    // "NVIDIA H200, bf16, batch 4, 1,024 tokens"
  std::map<std::string, std::string> provenance;  // into every exported file
  std::string empty_reason;                       // why there is nothing to draw; empty: there is

  Axis x, y;
  std::vector<Band> bands;
  std::vector<StackColumn> stack;
  std::array<bool, record::kNumCategories> quiet{};  // kinds that do not move over the figure step back
  std::vector<StepLine> lines;
  std::optional<CapLine> cap;
  std::optional<PeakMark> peak;
  std::optional<PeakMark> ghost_peak;  // of run A
  std::optional<FailedRequest> failed;
  std::optional<AliveList> cursor;  // under the cursor; without one at the peak, where memory ran out, or at the veil
  std::vector<LadderRung> ladder;   // at the same moment
  std::vector<Bar> bars;
  std::vector<TimeRow> rows;  // of a kernel timeline, from the top
  std::vector<Rung> rungs;    // from the first: peaks over x, speeds over y
  std::vector<Chart> charts;  // in reading order
  std::optional<Table> table;
  std::vector<HeatMap> maps;  // below the charts, side by side

  bool growing = false;                    // the run goes on: the stack ends where it has got to
  std::optional<double> veil_from;         // x: the rest of the plot is veiled until the question is answered
  std::optional<double> guess;             // the reader's, on the axis that guess_axis() names
  bool guess_locked = false;               // false: a pill to drag; true: "you said"
  std::size_t guess_chart = 0;             // of charts, the one that carries it
  std::optional<double> first_guess = {};  // where the marker begins; else between what is seen and the axis's end
};

// Peaks of rungs lie along x; of charts it is the y axis of the one that is asked about.
const Axis& guess_axis(const FigureData& figure);

// What the reader looks at. All optional: a default view is the last whole step, everything shown.
struct View {
  std::optional<double> begin, end;  // x range, axis units
  std::optional<double> cursor;      // x
  std::optional<double> guess;       // in the unit of the page's question
  bool guess_locked = false;
  bool veiled = false;  // hide what the question asks for (after the forward pass)
  bool asked = false;   // the page has a question: keep the axes that it had under the veil
  int columns = 1000;   // resolution: about one a pixel
};

struct FigureInput {
  const record::Ledger* run = nullptr;        // null: nothing recorded yet
  const record::Ledger* ghost = nullptr;      // run A, if one is pinned
  const record::Params* params = nullptr;     // of the figure's schema; null: defaults
  const record::Params* settings = nullptr;   // the reader's, of the page's demo; null: those of the run
  const record::Ledger* predicted = nullptr;  // with these settings; null: not known
  View view;
};

// One kind of figure, declared once in lessons/figures/<id>.cpp as `constinit const Figure k…`.
struct Figure {
  std::string_view id;       // "memory_timeline"
  std::string_view title;    // "Memory over one step"
  std::string_view caption;  // one sentence for lists and for alternative text
  record::Schema schema;     // axis, step, …
  FigureData (*build)(const FigureInput& input);
  bool of_settings = false;  // it also shows the reader's settings and what is predicted with them
};

std::span<const Figure* const> figures();
const Figure* find_figure(std::string_view id);  // null: unknown

}  // namespace headroom::lessons
