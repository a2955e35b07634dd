// Panel: allocated memory over time by kind, with phases, lines, peak and limit, and live tensors at one moment.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

// A phase above the plot. `tone`: one of four grays. `half`: recompute, at half height inside the backward pass.
struct Band {
  std::string label;
  std::string short_label;  // if `label` does not fit; may be empty
  double begin = 0, end = 0;
  int tone = 0;
  bool half = false;
};

// Bytes by category from the bottom, at the column's highest and lowest total.
struct StackColumn {
  double begin = 0, end = 0;
  record::ByCategory high{};
  record::ByCategory low{};
  record::ByCategory passing{};  // part of `high`, on top of its kind: see Timeline::passing
};

enum class LineStyle : std::uint8_t {
  kReserved,   // thin, second text color, label on the line
  kProcess,    // thin and dotted
  kBaseline,   // total of the compared run
  kPredicted,  // dashed: predicted total of the shown run
  kFormula,    // short dashes: total by closed form
};

// A step function with value y[i] over [x[i], x[i+1]); the last value holds to `end`.
struct StepLine {
  std::string label;
  std::string short_label;  // if `label` does not fit
  LineStyle style = LineStyle::kReserved;
  std::vector<double> x, y;
  double end = 0;
};

// The card's memory: a line, and a danger zone above it.
struct CapLine {
  std::string label;
  double y = 0;
};

struct PeakMark {
  double x = 0, y = 0;
  std::string label;
};

// The first event at which a prediction differs from the shown run; `tip` names both events.
struct PartingMark : PeakMark {
  std::string tip;
};

// The failed allocation, on top of live bytes. The run ends here.
struct FailedRequest {
  double x = 0;
  double base = 0;  // bytes allocated before
  double bytes = 0;
  std::string label;
};

struct ListRow {
  record::Category category = record::Category::kOther;
  std::string name;
  std::string where;  // "layers 0 to 9"; outside the layers "145 tensors"
  record::Bytes bytes = 0;
  std::uint64_t tensors = 0;
};

// Live tensors at one moment, largest first. `rows` and `more_*` sum to `total`.
struct AliveList {
  double position = 0;
  bool at_cursor = false;  // chosen by the reader: a line and a chip show it
  std::string when;
  record::Bytes total = 0;
  std::vector<ListRow> rows;
  std::uint64_t more_count = 0;
  record::Bytes more_bytes = 0;
};

// One of requested ≤ allocated ≤ reserved ≤ process ≤ device, if measured.
struct MemoryLevel {
  std::string label;
  record::Bytes bytes = 0;
  std::string_view meaning;
};

struct Timeline {
  Axis x, y;
  bool predicted = false;  // dashes the stack's edge
  std::vector<Band> bands = {};
  std::vector<StackColumn> stack = {};
  std::array<bool, record::kNumCategories> quiet{};  // constant kinds, which are muted
  // Names the hatched part of a kind, which several ranks make whole for a moment; empty: no such part.
  std::array<std::string_view, record::kNumCategories> passing{};
  std::vector<StepLine> lines = {};
  std::optional<CapLine> cap = {};
  std::optional<PeakMark> peak = {};
  std::optional<PeakMark> baseline_peak = {};
  std::optional<PartingMark> parting = {};
  std::optional<FailedRequest> failed = {};
  std::optional<AliveList> alive = {};     // at the cursor, else at the peak, the failure or `hidden_from`
  std::vector<MemoryLevel> levels = {};    // at the same moment
  std::optional<double> hidden_from = {};  // x from which all is hidden until the answer

  Axes axes() const { return {x, y}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
