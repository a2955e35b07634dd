// Parameters of `bench`: our kernels compared with eager compositions and LibTorch's kernels.
#include <array>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/bench_plan.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::Choice;
using record::ParamSpec;

constexpr std::array kPanels{
    Choice{"all", "all"},
    Choice{"kernels", "each kernel's own"},
    Choice{"report", "the report's six"},
};
constexpr std::array kCores{Choice{"spare", "all but one"}, Choice{"all", "all"}};

ParamSpec panel_length(std::string_view key, std::string_view label, std::string_view unit, std::string_view help) {
  return shape(advanced(unset("like the panel", linear(number(key, label, unit, help, 0, 1 << 20, 0)))));
}

// Not constexpr, because the catalogue supplies the kernels.
const std::vector<Choice> kBenchKernels = kernel_choices(/*with_all=*/true);
const std::array kBenchSchema{
    choice("kernel", "Kernel",
           "Kernels to measure, each as eager operators, as our kernel, and as LibTorch's if it has one",
           kBenchKernels),
    choice("panel", "Shapes", "Shapes to measure: each kernel's own, or those of the report's six panels", kPanels,
           "kernels"),
    technique(storage_choice("Number format of the tensors; the report's panels set their own")),
    device_choice("Device to measure; auto: the GPU if there is one"),
    on_off("quick", "Quick", "One shape per panel and few repeats"),
    panel_length("rows", "Rows", "rows", "Tokens of every shape; 0: the panel's"),
    panel_length("width", "Width", "elements",
                 "Elements per row (cross entropy: size of the vocabulary); 0: the panel's widths"),
    advanced(choice("cores", "Cores", "CPU cores to use; leaving one free keeps the window responsive", kCores)),
};

}  // namespace

extern const DemoInfo kBench;
constinit const DemoInfo kBench = {
    .id = "bench",
    .title = "Fused against unfused",
    .summary = "Time our kernels against eager compositions and LibTorch's, with bytes, bandwidth and memory.",
    .schema = kBenchSchema,
    .records_memory = false,
    .needs_kernels = true,
};

}  // namespace headroom::experiments
