// Panel: what is allocated over time, stacked by kind, with phases, lines, peak and limit; and what is alive at one moment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// A phase above the plot. Tone: which of the four grays (look.md §4); half: recompute, half height inside backward.
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
  kReserved,   // thin, second text color, label on the line
  kProcess,    // thin and dotted
  kBaseline,   // the total of the run that this one is compared with
  kPredicted,  // dashed: the total that was predicted for the run on show
  kFormula,    // short dashes: the total by the closed form
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
  bool at_cursor = false;  // the reader chose the moment: a line and a chip show it
  std::string when;        // "37.7 ms, loss"
  record::Bytes total = 0;
  std::vector<ListRow> rows;
  std::uint64_t more_count = 0;
  record::Bytes more_bytes = 0;
};

// requested ≤ allocated ≤ reserved ≤ process ≤ device: a level is absent where nothing measured it.
struct MemoryLevel {
  std::string label;
  record::Bytes bytes = 0;
  std::string_view meaning;  // one sentence
};

struct Timeline {
  Axis x, y;
  bool predicted = false;  // nothing of it was measured: the stack's edge is dashed
  std::vector<Band> bands = {};
  std::vector<StackColumn> stack = {};
  std::array<bool, record::kNumCategories> quiet{};  // kinds that do not move over the figure step back
  std::vector<StepLine> lines = {};
  std::optional<CapLine> cap = {};
  std::optional<PeakMark> peak = {};
  std::optional<PeakMark> baseline_peak = {};
  std::optional<FailedRequest> failed = {};
  std::optional<AliveList> alive =
      {};  // under the cursor; without one at the peak, at the failure, or at `hidden_from`
  std::vector<MemoryLevel> levels = {};    // at the same moment
  std::optional<double> hidden_from = {};  // x: the rest of the plot is hidden until the question is answered
};

}  // namespace headroom::lessons
