// A closed form as a recording, so that every figure of a run can show it.
#pragma once

#include "demos/predict/closed_form.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// One step on a GPU whose phases are the form's moments: at the end of each, every category holds what the form says. No
// more than that: no layers, no operators, no blocks.
record::Recording recording_of(const ClosedForm& form, const record::Params& train_step);

}  // namespace headroom::predict
