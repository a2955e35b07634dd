// What a step takes for a moment beside all that it keeps: attention's sums, the optimizer's tensors. Closed form.
#pragma once

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// In backward of one layer. Flash adds up the queries' gradient in fp32, and in the model's type those of keys and values for
// each query head; in fp32 another kernel adds it up in tiles. 0: eager.
record::Bytes attention_scratch_bytes(const StepSettings& step);

// What the embedding's gradient takes beside its table: our kernel's lists and partial sums, or those of PyTorch's operator on a
// GPU (gpu_extras.h). 1B, 4,096 tokens: 37,104,856 by the operator.
record::Bytes embedding_scratch_bytes(const StepSettings& step, record::DeviceKind device);

// Of the largest weight: by PyTorch's operators the widened gradient and the denominator; a copy to compare with. GaLore:
// the matrix in fp32, its projected gradient and update. 0 on a GPU whose optimizer is on the host.
record::Bytes optimizer_scratch_bytes(const StepSettings& step);

}  // namespace headroom::predict
