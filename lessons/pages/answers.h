// Right answers of the pages' questions, each computed from a run.
#pragma once

#include <span>
#include <string_view>

#include "demos/predict/step_settings.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

struct Answer {
  std::string_view name;
  AxisUnit unit = AxisUnit::kBytes;
  // Negative if this finished run has no answer (cancelled before its peak); null: no run has an answer.
  double (*of)(const record::Ledger& run) = nullptr;
  // Negative if the formula does not hold for these settings; null: no formula.
  double (*by_formula)(const predict::StepSettings& step) = nullptr;
  // The same for the settings of the demo `demo`, which is no training step; null: no formula.
  double (*by_settings)(const record::Params& settings) = nullptr;
  std::string_view demo = {};

  bool has_formula() const { return by_formula != nullptr || by_settings != nullptr; }
};

std::span<const Answer> answers();
const Answer* find_answer(std::string_view name);

}  // namespace headroom::lessons
