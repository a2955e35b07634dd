// Converts a step's moments to phases.
#include "demos/predict/closed_form.h"

#include <algorithm>

#include "demos/predict/closed_form_words.h"
#include "demos/predict/step_moments.h"

namespace headroom::predict {

const ClosedForm::Moment& ClosedForm::peak() const {
  return *std::max_element(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return record::total(a.bytes) < record::total(b.bytes);
  });
}

ClosedForm closed_form(const StepSettings& step) {
  ClosedForm form{.left_out = left_out(step), .assumed = assumed(step)};
  for (const StepMoment& moment : step_moments(step)) form.moments.push_back({phase_of(moment.place), moment.bytes});
  return form;
}

}  // namespace headroom::predict
