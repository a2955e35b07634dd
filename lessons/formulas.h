// The closed form of a training step (demos/predict) as a table: a row for each kind of memory, a column for each moment
// that matters, in symbols, with the numbers put in, in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/predict/step_moments.h"
#include "demos/predict/step_settings.h"
#include "demos/record/ledger.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::lessons {

// Whose numbers a formula can be shown with where no run decides it.
inline constexpr std::array<record::Choice, 4> kFormulaModels{{{"llama-3.2-1b", "Llama 3.2 1B"},
                                                               {"llama-3.2-3b", "Llama 3.2 3B"},
                                                               {"llama-3-8b", "Llama 3 8B"},
                                                               {"tiny", "Tiny, 4 M"}}};

struct FormulaMoment {
  predict::Place place{};
  std::string name;       // "at the loss"
  std::string brief;      // "loss"
  record::Bytes sum = 0;  // of the kinds on the device

  bool operator==(const FormulaMoment&) const = default;
};

// Bytes of one kind at one moment.
struct FormulaCell {
  record::Bytes bytes = 0;
  std::string formula;  // "2 · P = 2 × 1,235,814,400"; empty: there is no short one

  bool operator==(const FormulaCell&) const = default;
};

struct FormulaRow {
  std::string name;  // "Optimizer state"
  record::Category category = record::Category::kOther;
  bool on_host = false;            // in host memory, not on the device: in no sum
  std::vector<FormulaCell> cells;  // one for each moment

  bool operator==(const FormulaRow&) const = default;
};

struct StepFormulas {
  std::vector<FormulaMoment> moments;  // in the order of the step: the loss, the end of backward, and a higher one
  std::size_t peak = 0;                // the moment with the largest sum, which is the closed form's peak
  std::vector<FormulaRow> rows;        // kinds that some moment has; workspaces and tables are one row

  bool operator==(const StepFormulas&) const = default;
};
StepFormulas step_formulas(const predict::StepSettings& step, record::DeviceKind device = record::DeviceKind::kGpu);

// The highest totals of the last whole step of a run at one of these moments; nothing if there are none. For a moment other than
// the loss and the end of backward, those of the step's peak.
std::optional<record::Totals> totals_at(const record::Ledger& run, const FormulaMoment& moment);

// Bytes of one row in these totals.
record::Bytes bytes_of(const FormulaRow& row, const record::Totals& totals);

}  // namespace headroom::lessons
