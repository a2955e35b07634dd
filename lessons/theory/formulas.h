// The closed form of a training step (demos/predict) as a table: a row per kind of memory and a column per moment, in
// symbols, numbers and bytes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "demos/predict/forms/step_moments.h"
#include "demos/predict/step_settings.h"
#include "demos/record/ledger.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::lessons {

// Models for formulas without a run.
inline constexpr std::array<record::Choice, 4> kFormulaModels{{{"llama-3.2-1b", "Llama 3.2 1B"},
                                                               {"llama-3.2-3b", "Llama 3.2 3B"},
                                                               {"llama-3-8b", "Llama 3 8B"},
                                                               {"tiny", "Tiny, 4 M"}}};

struct FormulaMoment {
  predict::Place place{};
  std::string name;
  std::string brief;
  record::Bytes sum = 0;  // total on the device

  bool operator==(const FormulaMoment&) const = default;
};

struct FormulaCell {
  record::Bytes bytes = 0;
  std::string formula;  // "2 · P = 2 × 1,235,814,400"; empty if there is no short one

  bool operator==(const FormulaCell&) const = default;
};

struct FormulaRow {
  std::string name;
  record::Category category = record::Category::kOther;
  bool on_host = false;            // host memory, in no sum
  std::vector<FormulaCell> cells;  // one per moment

  bool operator==(const FormulaRow&) const = default;
};

struct StepFormulas {
  std::vector<FormulaMoment> moments;  // in step order: the loss, the end of the backward pass, and any higher moment
  std::size_t peak = 0;                // index of the largest sum
  std::vector<FormulaRow> rows;        // kinds present at any moment; workspaces and tables share a row

  bool operator==(const StepFormulas&) const = default;
};
StepFormulas step_formulas(const predict::StepSettings& step, record::DeviceKind device = record::DeviceKind::kGpu);

// Highest totals of the run's last whole step at this moment, if any; the step's peak for moments other than the loss
// and the end of the backward pass.
std::optional<record::Totals> totals_at(const record::Ledger& run, const FormulaMoment& moment);

record::Bytes bytes_of(const FormulaRow& row, const record::Totals& totals);

}  // namespace headroom::lessons
