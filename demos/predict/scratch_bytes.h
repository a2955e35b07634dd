// Temporary memory of a step. Closed form.
#pragma once

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Backward of one layer. Flash accumulates dQ in fp32, and dK and dV per query head; the fp32 kernel accumulates dQ
// in tiles. 0: eager.
record::Bytes attention_scratch_bytes(const StepSettings& step);

// Lists and partial sums of our kernel, or of PyTorch's operator on a GPU (gpu_extras.h). 1B, 4,096 tokens:
// 37,104,856 with the operator.
record::Bytes embedding_scratch_bytes(const StepSettings& step, record::DeviceKind device);

}  // namespace headroom::predict
