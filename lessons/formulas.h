// The closed forms of a training step (demos/predict) as rows of a table: in symbols, with the numbers put in, in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::lessons {

// Whose numbers a formula can be shown with where no run decides it.
inline constexpr std::array<record::Choice, 4> kFormulaModels{{{"llama-3.2-1b", "Llama 3.2 1B"},
                                                               {"llama-3.2-3b", "Llama 3.2 3B"},
                                                               {"llama-3-8b", "Llama 3 8B"},
                                                               {"tiny", "Tiny, 4 M"}}};

// What of a run a row is compared with.
enum class Measured : std::uint8_t {
  kNothing,       // a run has no value for it
  kAtEnd,         // the category's bytes at the end of the step
  kHighest,       // the most of the category at any moment of the step
  kAfterForward,  // the category's bytes where the forward pass ends
};

struct FormulaTerm {
  record::Category category = record::Category::kOther;
  std::string name;     // "Optimizer state"
  std::string symbols;  // "(4 + 4 + 4) · P"
  std::string numbers;  // "12 × 1,235,814,400"
  record::Bytes bytes = 0;
  Measured measured = Measured::kNothing;
  bool on_host = false;  // in host memory, not on the device

  bool operator==(const FormulaTerm&) const = default;
};

// The terms that these settings have, those of the whole step first. What has no short closed form (the inside of layers
// without checkpointing) is left out.
std::vector<FormulaTerm> step_formulas(const predict::StepSettings& step);

}  // namespace headroom::lessons
