#include "lessons/sources.h"

namespace headroom::lessons {
namespace {

bool is_computed_run(const record::Ledger& run) {
  const record::Source source = run.recording().info().source;
  return source == record::Source::kPredicted || source == record::Source::kFormula;
}

// Beside the reader's settings, a run is a measurement: the prediction has its own slot.
const record::Ledger* run_for(const Figure& figure, const Sources& sources) {
  if (figure.basis == Basis::kSweep && sources.sweep_run != nullptr) return sources.sweep_run;
  const bool twice = follows_settings(figure) && sources.settings != nullptr && sources.run != nullptr &&
                     is_computed_run(*sources.run);
  return twice ? nullptr : sources.run;
}

}  // namespace

FigureInput inputs_for(const Figure& figure, const Sources& sources) {
  const bool of_settings = follows_settings(figure);
  FigureInput input{.run = run_for(figure, sources),
                    .baseline = sources.run_a,
                    .predicted = of_settings ? sources.prediction : sources.predicted_line,
                    .formula = sources.formula_line,
                    .beside = sources.beside};
  if (of_settings) {
    input.settings = sources.settings;
    input.sweep = sources.sweep;
  }
  if (figure.on_card || (figure.basis == Basis::kRun && sources.runs_on_card)) input.view.card = sources.card;
  return input;
}

}  // namespace headroom::lessons
