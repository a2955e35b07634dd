// Parameters of `launches`: the same work as many launches, one kernel, and a graph replay.
#include <array>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/bench_plan.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::Choice;

// Not constexpr, because the catalogue supplies the kernels.
const std::vector<Choice> kLaunchesKernels =
    kernel_choices(/*with_all=*/false, [](const kernels::KernelBench& bench) { return bench.many_launches; });
constexpr std::array kPasses{Choice{"forward", "forward"}, Choice{"full", "forward and backward"}};

const std::array kLaunchesSchema{
    choice("kernel", "Kernel", "Operation to run, as a composition of PyTorch's operators and as one kernel",
           kLaunchesKernels),
    shape(number("rows", "Rows", "rows", "Tokens; with few tokens the launches take longer than the work", 1, 1 << 17,
                 1024)),
    choice("pass", "Pass", "The forward pass alone, or forward and backward", kPasses),
    technique(storage_choice("Number format of the tensors")),
    device_choice("Device to run on; auto: the GPU if there is one"),
    trace_switch("Record every kernel and launch, in a separate engine", /*on=*/true),
};

}  // namespace

extern const DemoInfo kLaunches;
constinit const DemoInfo kLaunches = {
    .id = "launches",
    .title = "Launches of one operation",
    .summary = "Run one operation as many launches, as one kernel and as the replay of a CUDA graph.",
    .schema = kLaunchesSchema,
    .needs_kernels = true,
    .traced = &trace_is_on,
};

}  // namespace headroom::experiments
