#include "lessons/sources.h"

#include "demos/experiments/schemas.h"
#include "lessons/steps/run_lines.h"

namespace headroom::lessons {
namespace {

// A figure that follows settings gets their prediction separately, so its run must be measured.
const record::Ledger* run_for(const Figure& figure, const Sources& sources) {
  if (figure.basis == Basis::kSweep && sources.sweep_run != nullptr) return sources.sweep_run;
  const bool twice = follows_settings(figure) && sources.settings != nullptr && sources.run != nullptr &&
                     is_predicted(sources.run->recording());
  return twice ? nullptr : sources.run;
}

}  // namespace

record::Params reader_step(const FigureInput& input) {
  return experiments::step_params(input.settings != nullptr ? *input.settings
                                                            : record::Params(experiments::shape_schema().schema));
}

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
    if (figure.takes_advice) input.advised = sources.advised;
  }
  if (figure.on_card || (figure.basis == Basis::kRun && sources.runs_on_card)) input.view.card = sources.card;
  return input;
}

}  // namespace headroom::lessons
