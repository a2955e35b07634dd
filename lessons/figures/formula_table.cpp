// What a step takes by closed form, with the reader's numbers put in, beside what is predicted and what was measured.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "lessons/figure.h"
#include "lessons/formulas.h"
#include "lessons/shown_unit.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kFormulaTable;

namespace {

using record::Bytes;

// Of the reader's settings; beside a run the step as it was then. The shape that a checkpoint decides is known from a run
// of it alone.
predict::StepSettings settings_of(const record::Params& settings, const record::RunInfo* run) {
  predict::StepSettings step = predict::step_settings(settings);
  if (run == nullptr) return step;
  const predict::StepSettings ran = predict::settings_of(*run, experiments::training_step().schema);
  step.tied_sum_in_place = ran.tied_sum_in_place;
  if (!step.weights.empty() && ran.weights == step.weights && ran.model.id == step.model.id) step.model = ran.model;
  return step;
}

// -1: the run has no value for it.
Bytes measured(const record::Ledger& run, const FormulaTerm& term) {
  const auto step = record::last_whole_step(run.recording());
  if (!step || step->last == step->first || term.on_host || term.measured == Measured::kNothing) return -1;
  const auto k = static_cast<std::size_t>(term.category);
  switch (term.measured) {
    case Measured::kAtEnd:
      return run.at(step->last - 1).by_category[k];
    case Measured::kHighest: {
      Bytes most = 0;
      for (std::uint64_t event = step->first; event < step->last; ++event)
        most = std::max(most, run.at(event).by_category[k]);
      return most;
    }
    case Measured::kAfterForward: {
      const auto& marks = run.recording().marks();
      for (std::size_t i = step->first_mark; i < step->last_mark && i < marks.size(); ++i)
        if (marks[i].phase == record::Phase::kLoss && marks[i].event_index > step->first)
          return run.at(marks[i].event_index - 1).by_category[k];
      return -1;
    }
    case Measured::kNothing:
      break;
  }
  return -1;
}

std::string text_of(Bytes bytes, const ShownUnit& unit) { return bytes < 0 ? "–" : bytes_text(bytes, unit); }

std::string signed_text(Bytes bytes, const ShownUnit& unit) { return bytes == 0 ? "0" : change_text(bytes, unit); }

// Of the largest term: all columns are in it.
ShownUnit unit_of(const std::vector<FormulaTerm>& terms) {
  Bytes most = 0;
  for (const FormulaTerm& term : terms) most = std::max(most, term.bytes);
  return byte_unit(static_cast<double>(most));
}

std::string off_by(Bytes formula, Bytes value) {
  if (value < 0 || formula <= 0) return "–";
  const double percent = 100 * static_cast<double>(value - formula) / static_cast<double>(formula);
  if (value == formula) return "0";
  if (std::abs(percent) < 0.05) return "< 0.1 %";
  return fmt::format("{}{:.1f} %", percent > 0 ? "+" : "−", std::abs(percent));
}

std::string exact(std::string_view what, Bytes bytes) {
  return bytes < 0 ? std::string() : fmt::format(", {} {} B", what, record::format_count(bytes));
}

void fill(Table& table, const std::vector<FormulaTerm>& terms, const FigureInput& input, bool run_fits) {
  const auto column = [&](const char* head) { table.columns.emplace_back(head); };
  const ShownUnit unit = unit_of(terms);
  column("formula");
  if (input.predicted != nullptr) column("predicted");
  if (run_fits) column("measured"), column("off by");
  if (run_fits && input.baseline != nullptr) column("B − A");
  for (const FormulaTerm& term : terms) {
    TableRow row{.category = term.category,
                 .name = term.name,
                 .note = term.symbols + " = " + term.numbers,
                 .cells = {bytes_text(term.bytes, unit)},
                 .tip = {}};
    row.tip = term.name + exact("formula", term.bytes);
    if (input.predicted != nullptr) {
      const Bytes predicted = measured(*input.predicted, term);
      row.cells.push_back(text_of(predicted, unit));
      row.tip += exact("predicted", predicted);
    }
    if (run_fits) {
      const Bytes value = measured(*input.run, term);
      row.cells.push_back(text_of(value, unit));
      row.cells.push_back(off_by(term.bytes, value));
      row.tip += exact("measured", value);
      if (input.baseline != nullptr) {
        const Bytes before = measured(*input.baseline, term);
        row.cells.push_back(value < 0 || before < 0 ? "–" : signed_text(value - before, unit));
      }
    }
    table.rows.push_back(std::move(row));
  }
}

bool has(const std::vector<FormulaTerm>& terms, record::Category category) {
  return std::any_of(terms.begin(), terms.end(), [&](const FormulaTerm& term) { return term.category == category; });
}

// What no row counts.
std::string foot_of_formulas(const std::vector<FormulaTerm>& terms) {
  return has(terms, record::Category::kActivations)
             ? "A layer that is computed again in backward takes its activations and workspaces on top."
             : "What the layers keep for backward has no short closed form: it comes on top, unless checkpointing "
               "keeps "
               "the inputs of layers only.";
}

void add_formula_table_panels(FigureData& figure, const FigureInput& input) {
  figure.head.provenance = {{"formulas", "closed form"}};
  const bool is_prediction =
      input.run != nullptr && input.run->recording().info().source == record::Source::kPredicted;  // its own column
  const bool has_run = input.run != nullptr && !is_prediction &&
                       input.run->recording().info().demo == experiments::training_step().id &&
                       input.run->recording().sweep_points().empty();  // each point has its own settings
  if (input.settings == nullptr && !has_run) {
    figure.head.empty_reason = "There are no settings to put numbers in for.";
    return;
  }
  if (input.view.hidden) {
    figure.head.empty_reason = "This is part of the answer: it shows when the question is answered.";
    return;
  }
  const record::RunInfo* const run = has_run ? &input.run->recording().info() : nullptr;
  const std::string unknown = has_run ? unknown_settings(*run) : std::string();
  if (!unknown.empty() && input.settings == nullptr) {
    figure.head.empty_reason =
        fmt::format("This version does not know the run's {}: it has no formula for it.", unknown);
    return;
  }
  const record::Params settings = input.settings ? experiments::step_params(*input.settings)
                                                 : record::Params::known_of(experiments::training_step().schema, run->params);
  const std::vector<FormulaTerm> terms = step_formulas(settings_of(settings, run));
  // A run fits where its own settings give the same bytes, whatever else it is unlike in.
  const bool run_fits = has_run && unknown.empty() && record::last_whole_step(input.run->recording()) &&
                        terms == step_formulas(predict::settings_of(*run, experiments::training_step().schema));
  Table table;
  table.head = "With these settings";
  fill(table, terms, input, run_fits);
  record::RunInfo asked;  // the settings in the words of a run
  asked.demo = experiments::training_step().id;
  asked.params = settings.to_map();
  if (run != nullptr &&
      settings.text("weights") == record::Params::known_of(experiments::training_step().schema, run->params).text("weights"))
    asked.provenance = run->provenance;  // the checkpoint's shape
  figure.head.provenance_line = has_run ? provenance_line(asked) : settings_line(asked);
  if (run_fits) {
    set_run(figure.head, input.run->recording(), *input.params);
    if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
    table.foot = has(terms, record::Category::kActivations)
                     ? "With the inputs are measured the last layer's output and what the final norm keeps."
                     : "Measured is more by rounding to whole blocks and by short-lived tensors of the same kind.";
  } else if (!unknown.empty()) {
    table.foot = fmt::format("The run on show has settings that this version does not know: {}.", unknown);
  } else if (has_run) {
    table.foot = "The run on show has other settings: run with these to see them measured.";
  } else if (input.run == nullptr) {
    table.foot = foot_of_formulas(terms);
  }
  // Of a run those that it kept, idle ones too.
  const record::Params& shown = input.settings ? *input.settings : settings;
  for (const auto& [key, value] : shown.to_map())
    if (has_run ? !shown.overruled(key) : shown.in_use(key)) figure.head.provenance["setting." + key] = value;
  figure.panels.emplace_back(std::move(table));
}

}  // namespace

constinit const Figure kFormulaTable{
    .id = "formula_table",
    .title = "Formula",
    .caption = "Bytes of a step in closed form with the settings' numbers, beside the predicted and the measured ones",
    .schema = {},
    .basis = Basis::kSettings,
    .add_panels = add_formula_table_panels,
};

}  // namespace headroom::lessons
