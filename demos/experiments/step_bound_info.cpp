// The parameters of `step_bound`: the products of a training step, each timed alone.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::Choice;

constexpr std::array kModels{
    Choice{"llama-3.2-1b", "Llama 3.2 1B"},
    Choice{"llama-3.2-3b", "Llama 3.2 3B"},
    Choice{"llama-3-8b", "Llama 3 8B"},
    Choice{"tiny", "Tiny, 4 M"},
};

constexpr std::array kSchema{
    shape(choice("model", "Model", "Which Llama's products are timed", kModels)),
    shape(number("tokens", "Tokens", "tokens", "Tokens of one step", 1, 1 << 20, 1024)),
    technique(storage_choice("Number format of weights and activations")),
    device_choice("Where it runs; auto takes the GPU where there is one"),
};

}  // namespace

extern const DemoInfo kStepBound;
constinit const DemoInfo kStepBound = {
    .id = "step_bound",
    .title = "Bound of a training step",
    .summary = "Time a step's matrix products one by one, and a copy: what no step can be faster than.",
    .schema = kSchema,
    .records_memory = false,
};

}  // namespace headroom::experiments
