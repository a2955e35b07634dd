// Parameters of `step_bound`: the GEMMs of a training step, each timed alone.
#include <array>
#include <span>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

constexpr std::span kPublished = std::span(kModels).first(kModels.size() - 1);  // without the custom one

constexpr std::array kStepBoundSchema{
    shape(choice("model", "Model", "Llama whose GEMMs are timed", kPublished, "llama-3.2-1b")),
    shape(number("tokens", "Tokens", "tokens", "Tokens per step", 1, 1 << 20, 1024)),
    technique(storage_choice("Number format of weights and activations")),
    device_choice("Device to run on; auto: the GPU if there is one"),
};

}  // namespace

extern const DemoInfo kStepBound;
constinit const DemoInfo kStepBound = {
    .id = "step_bound",
    .title = "Lower bound on step time",
    .summary = "Time a step's GEMMs one by one, and a copy, for a lower bound on the step time.",
    .schema = kStepBoundSchema,
    .records_memory = false,
};

}  // namespace headroom::experiments
