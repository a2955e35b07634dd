// Parameters of `moments`: trains a model for some steps and quantizes the optimizer's moments.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::ParamKind;
using record::ParamSpec;

constexpr std::array kMomentsSchema{
    number("steps", "Steps", "steps", "Training steps before the moments are measured", 1, 10000, 30),
    shape(number("batch", "Batch", "sequences", "Sequences per step", 1, 256, 2)),
    shape(number("seq", "Sequence", "tokens", "Tokens per sequence", 8, 4096, 128)),
    device_choice("Device to train on; auto: the GPU if there is one"),
    advanced(ParamSpec{.key = "learning_rate",
                       .label = "Learning rate",
                       .help = "AdamW's step size",
                       .kind = ParamKind::kReal,
                       .minimum = 1e-7,
                       .maximum = 1,
                       .default_number = 1e-3,
                       .logarithmic = true}),
    advanced(ParamSpec{.key = "seed",
                       .label = "Seed",
                       .help = "Seed for the initial weights and the order of the text",
                       .kind = ParamKind::kInteger,
                       .minimum = 0,
                       .maximum = 1e9,
                       .default_number = 0}),
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
