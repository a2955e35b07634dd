// The closed form's bytes at the loss and at the end of backward for the reader's settings, next to the measured or
// predicted ones.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"
#include "lessons/theory/formulas.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;

// The reader's step; with a run, as that run executed it. A checkpoint's shape is known only from a run.
predict::StepSettings settings_of(const record::Params& settings, const record::RunInfo* run) {
  predict::StepSettings step = predict::step_settings(settings);
  if (run == nullptr) return step;
  const predict::StepSettings ran = predict::settings_of(*run, experiments::training_step().schema);
  step.loss.tied_sum_in_place = ran.loss.tied_sum_in_place;
  if (!step.files.weights.empty() && ran.files.weights == step.files.weights && ran.model.id == step.model.id)
    step.model = ran.model;
  return step;
}

// The planner's prediction; null if the closed form stands in for it.
const record::Ledger* prediction_of(const FigureInput& input) {
  const bool stands_in =
      input.predicted != nullptr && input.predicted->recording().info().source == record::Source::kFormula;
  return stands_in ? nullptr : input.predicted;
}

// True for a whole step with events; a replayed CUDA graph has none.
bool is_measured(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return step && step->first < step->last;
}

// The run compared with the closed form, and its name.
struct Beside {
  const record::Ledger* run = nullptr;  // null: no run to compare
  std::string_view name;                // "measured"
};
Beside beside_of(const FigureInput& input, bool run_fits) {
  if (run_fits) return {input.run, "measured"};
  const record::Ledger* const prediction = prediction_of(input);
  return {prediction != nullptr && is_measured(*prediction) ? prediction : nullptr, "predicted"};
}

record::DeviceKind device_of(const Beside& beside) {
  return beside.run == nullptr ? record::DeviceKind::kGpu : beside.run->recording().info().device;
}

std::string signed_percent(Bytes formula, Bytes value) {
  if (value == formula) return "0";
  if (formula <= 0) return "–";
  const double percent = 100 * static_cast<double>(value - formula) / static_cast<double>(formula);
  if (std::abs(percent) < 0.05) return "< 0.1 %";
  return fmt::format("{}{:.1f} %", percent > 0 ? "+" : "−", std::abs(percent));
}

// The formula of the row's largest cell with a formula; preceded by the cell's moment if cells differ, and without
// numbers if there is no room.
std::string note_of(const FormulaRow& row, const StepFormulas& formulas, bool has_room) {
  const FormulaCell* largest = nullptr;
  for (const FormulaCell& cell : row.cells)
    if (!cell.formula.empty() && (largest == nullptr || cell.bytes > largest->bytes)) largest = &cell;
  if (largest == nullptr) return {};
  const bool same =
      std::ranges::all_of(row.cells, [&](const FormulaCell& cell) { return cell.bytes == largest->bytes; });
  const std::string formula = has_room ? largest->formula : largest->formula.substr(0, largest->formula.find(" = "));
  const auto moment = static_cast<std::size_t>(largest - row.cells.data());
  return same ? formula : fmt::format("{}: {}", formulas.moments[moment].brief, formula);
}

// The table's rows: kinds of memory, their sum, its difference from the compared run, and host memory.
class Rows {
 public:
  Rows(const StepFormulas& formulas, const Beside& beside) : formulas_(formulas), beside_(beside) {
    Bytes most = 0;
    for (const FormulaMoment& moment : formulas.moments) {
      most = std::max(most, moment.sum);
      if (beside.run != nullptr) totals_.push_back(totals_at(*beside.run, moment));
    }
    unit_ = byte_unit(static_cast<double>(most));
  }

  Table table() {
    table_.head = "With these settings";
    for (const FormulaMoment& moment : formulas_.moments) {
      table_.columns.push_back(moment.name);
      if (beside_.run != nullptr) table_.columns.push_back(fmt::format("{}, {}", moment.brief, beside_.name));
    }
    for (const FormulaRow& row : formulas_.rows)
      if (!row.on_host) kind(row);
    sum();
    if (beside_.run != nullptr) difference();
    for (const FormulaRow& row : formulas_.rows)
      if (row.on_host) kind(row);
    return std::move(table_);
  }

 private:
  std::string text_of(std::optional<Bytes> bytes) const { return bytes ? bytes_text(*bytes, unit_) : "–"; }

  void kind(const FormulaRow& row) {
    const bool has_room = beside_.run == nullptr || formulas_.moments.size() < 3;
    TableRow shown{.category = row.category, .name = row.name, .note = note_of(row, formulas_, has_room)};
    shown.tip = row.name;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const FormulaCell& cell = row.cells[i];
      shown.cells.push_back(bytes_text(cell.bytes, unit_));
      shown.tip += fmt::format("; {}: {}{} B", formulas_.moments[i].name,
                               cell.formula.empty() ? "" : cell.formula + " = ", record::format_count(cell.bytes));
      if (beside_.run == nullptr) continue;
      const auto value = !row.on_host && totals_[i] ? std::optional(bytes_of(row, *totals_[i])) : std::nullopt;
      shown.cells.push_back(text_of(value));
      if (value) shown.tip += fmt::format(", {} {} B", beside_.name, record::format_count(*value));
    }
    table_.rows.push_back(std::move(shown));
  }

  void sum() {
    const FormulaMoment& peak = formulas_.moments[formulas_.peak];
    TableRow row{.name = "Sum", .note = fmt::format("the peak: {}", peak.name)};
    row.tip = "Sum";
    for (std::size_t i = 0; i < formulas_.moments.size(); ++i) {
      const FormulaMoment& moment = formulas_.moments[i];
      row.cells.push_back(bytes_text(moment.sum, unit_));
      row.tip += fmt::format("; {}: {} B", moment.name, record::format_count(moment.sum));
      if (beside_.run != nullptr)
        row.cells.push_back(text_of(totals_[i] ? std::optional(totals_[i]->allocated) : std::nullopt));
    }
    table_.rows.push_back(std::move(row));
  }

  void difference() {
    TableRow row{.name = "Difference", .note = fmt::format("{} − formula", beside_.name)};
    row.tip = "Difference";
    for (std::size_t i = 0; i < formulas_.moments.size(); ++i) {
      const Bytes formula = formulas_.moments[i].sum, value = totals_[i] ? totals_[i]->allocated : formula;
      row.cells.push_back(change_text(value - formula, unit_));
      row.cells.push_back(signed_percent(formula, value));
      row.tip += fmt::format("; {}: {} B", formulas_.moments[i].name, record::format_count(value - formula));
    }
    table_.rows.push_back(std::move(row));
  }

  const StepFormulas& formulas_;
  Beside beside_;
  std::vector<std::optional<record::Totals>> totals_;  // per moment
  ShownUnit unit_;
  Table table_;
};

void add_formula_table_panels(FigureData& figure, const FigureInput& input) {
  figure.head.provenance = {{"formulas", "closed form"}};
  const bool is_prediction =
      input.run != nullptr &&
      input.run->recording().info().source == record::Source::kPredicted;  // predictions have their own column
  const bool has_run = input.run != nullptr && !is_prediction && is_one_step(input.run->recording());
  if (input.settings == nullptr && !has_run)
    return figure.leave_empty("There are no settings to compute the numbers from.");
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  const record::RunInfo* const run = has_run ? &input.run->recording().info() : nullptr;
  const std::string unknown = has_run ? unknown_settings(*run) : std::string();
  if (!unknown.empty() && input.settings == nullptr)
    return figure.leave_empty(fmt::format("This version has no formula for the run's {}.", unknown));
  const record::Params settings = input.settings ? experiments::step_params(*input.settings) : step_params_of(*run);
  const predict::StepSettings step = settings_of(settings, run);
  // The run fits if its own settings give the same bytes as the reader's.
  const bool run_fits = has_run && unknown.empty() && is_measured(*input.run) &&
                        step_formulas(step, run->device) ==
                            step_formulas(predict::settings_of(*run, experiments::training_step().schema), run->device);
  const Beside beside = beside_of(input, run_fits);
  const StepFormulas formulas = step_formulas(step, device_of(beside));
  Table table = Rows(formulas, beside).table();
  record::RunInfo asked = run_with(settings);
  if (run != nullptr && settings.text("weights") == step_params_of(*run).text("weights"))
    asked.provenance = run->provenance;  // carries the checkpoint's shape
  figure.head.provenance_line = has_run ? provenance_line(asked) : settings_line(asked);
  if (run_fits) {
    set_run(figure.head, input.run->recording(), *input.params);
    if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
    table.foot = "Measured blocks are rounded up, and a step has a few small tensors that the formulas leave out.";
  } else if (!unknown.empty()) {
    table.foot = fmt::format("The shown run has settings that this version does not know: {}.", unknown);
  } else if (has_run) {
    table.foot = "The shown run has other settings: run with these to see them measured.";
  } else if (beside.run == nullptr) {
    table.foot = "Requested bytes by closed form, for a step on a GPU.";
  }
  // With a run, settings that are not in use are added, too, unless overruled.
  const record::Params& shown = input.settings ? *input.settings : settings;
  for (const auto& [key, value] : shown.to_map())
    if (has_run ? !shown.overruled(key) : shown.in_use(key)) figure.head.provenance["setting." + key] = value;
  figure.add(std::move(table));
}

}  // namespace

extern const Figure kFormulaTable;
constinit const Figure kFormulaTable{
    .id = "formula_table",
    .title = "Formula",
    .caption =
        "Bytes at the loss and at the end of backward in closed form, next to the measured or the predicted ones",
    .schema = {},
    .basis = Basis::kSettings,
    .add_panels = add_formula_table_panels,
};

}  // namespace headroom::lessons
