// Decides what a figure is built from, by its basis, for the window and for all commands.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "demos/record/ledger.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

// A figure gets the part that its basis asks for.
struct Sources {
  const record::Ledger* run = nullptr;             // the shown run: measured, or computed if nothing is measured
  const record::Ledger* run_a = nullptr;           // drawn behind the run
  const record::Ledger* sweep_run = nullptr;       // the run of `sweep`, if it is not `run`
  const record::Ledger* prediction = nullptr;      // for `settings`
  const record::Ledger* predicted_line = nullptr;  // over the run
  const record::Ledger* formula_line = nullptr;    // over the run
  const record::Params* settings = nullptr;        // the reader's; null: the run's
  const std::vector<experiments::AdvisedSet>* advised = nullptr;  // for `settings`
  std::span<const record::Ledger* const> beside = {};
  std::span<const experiments::SweepAxis> sweep = {};  // may not have run yet
  std::optional<CardLimit> card = {};
  bool runs_on_card = false;  // `card` is also the limit for figures of runs
};

// Settings of a training step: the reader's, else the defaults.
record::Params reader_step(const FigureInput& input);

// The caller adds the figure's parameters and the rest of the view.
FigureInput inputs_for(const Figure& figure, const Sources& sources);

}  // namespace headroom::lessons
