// Training-step settings, and the closed form's bytes by kind.
#pragma once

#include <initializer_list>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/step_settings.h"
#include "tests/support/catch.h"

namespace headroom::tests {

// Llama 3.2 1B, 4 sequences of 1,024 tokens.
inline predict::StepSettings with(std::initializer_list<std::string_view> assignments) {
  record::Params params(experiments::training_step().schema);
  for (const std::string_view assignment : {"model=llama-3.2-1b", "batch=4", "seq=1024"})
    REQUIRE(params.set_assignment(assignment).ok());
  for (const std::string_view assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  return predict::step_settings(params);
}

inline record::Bytes of(const predict::ClosedForm::Moment& moment, record::Category category) {
  return moment.bytes[static_cast<std::size_t>(category)];
}

}  // namespace headroom::tests
