// Parameters of `moments`: trains a model for some steps and quantizes the optimizer's moments.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

constexpr std::array kMomentsSchema{
    number("steps", "Steps", "steps", "Training steps before the moments are measured", 1, 10000, 30),
    shape(number("batch", "Batch", "sequences", "Sequences per step", 1, 256, 2)),
    shape(number("seq", "Sequence", "tokens", "Tokens per sequence", 8, 4096, 128)),
    device_choice("Device to train on; auto: the GPU if there is one"),
    advanced(real("learning_rate", "Learning rate", "AdamW's step size", 1e-7, 1, 1e-3)),
    seed("Seed for the initial weights and the order of the text"),
};

}  // namespace

extern const DemoInfo kMoments;
constinit const DemoInfo kMoments = {
    .id = "moments",
    .title = "Moments in 8 bits",
    .summary = "Train the tiny model with AdamW, then quantize its moments block by block and measure the errors.",
    .schema = kMomentsSchema,
    .needs_kernels = true,
};

}  // namespace headroom::experiments
