// Converts a closed form to a recording for the figures.
#pragma once

#include "demos/predict/forms/closed_form.h"
#include "demos/record/recording.h"

namespace headroom::predict {

// One GPU step whose phases end with the moments' bytes, without layers, operators or blocks.
record::Recording recording_of(const ClosedForm& form, const record::Params& train_step);

}  // namespace headroom::predict
