// The parameters of `launches`: the same work as many launches, as one kernel, and as the replay of a graph.
#include <array>

#include "demos/experiments/demo.h"

namespace headroom::experiments {

namespace {

using record::Choice;
using record::ParamKind;
using record::ParamSpec;

constexpr std::array kKernels{
    Choice{"rms_norm", "RMSNorm"},
    Choice{"add_rms_norm", "Addition and RMSNorm"},
    Choice{"layer_norm", "LayerNorm"},
    Choice{"rope", "RoPE"},
    Choice{"swiglu", "SwiGLU"},
    Choice{"geglu", "GeGLU"},
    Choice{"cross_entropy", "Cross entropy"},
};
constexpr std::array kStorages{
    Choice{"auto", "bf16, CPU: fp32"},
    Choice{"bf16", "bf16"},
    Choice{"fp16", "fp16"},
    Choice{"fp32", "fp32"},
};
constexpr std::array kPasses{Choice{"forward", "forward"}, Choice{"full", "forward and backward"}};
constexpr std::array kOffOn{Choice{"off", "off"}, Choice{"on", "on"}};
constexpr std::array kDevices{Choice{"auto", "best there is"}, Choice{"cpu", "CPU"}, Choice{"cuda", "GPU"}};

constexpr std::array kSchema{
    ParamSpec{.key = "kernel",
              .label = "Kernel",
              .help = "Which operation runs: composed from PyTorch's operators, and as one kernel",
              .kind = ParamKind::kChoice,
              .default_text = "rms_norm",
              .choices = kKernels},
    ParamSpec{.key = "rows",
              .label = "Rows",
              .unit = "rows",
              .help = "Tokens; few of them and the launches take longer than the work",
              .kind = ParamKind::kInteger,
              .minimum = 1,
              .maximum = 1 << 17,
              .default_number = 1024,
              .logarithmic = true},
    ParamSpec{.key = "pass",
              .label = "Pass",
              .help = "The forward pass alone, or backward after it",
              .kind = ParamKind::kChoice,
              .default_text = "forward",
              .choices = kPasses},
    ParamSpec{.key = "storage",
              .label = "Storage",
              .help = "Number format of the tensors",
              .kind = ParamKind::kChoice,
              .default_text = "auto",
              .choices = kStorages},
    ParamSpec{.key = "device",
              .label = "Run on",
              .help = "Where it runs; auto takes the GPU where there is one",
              .kind = ParamKind::kChoice,
              .default_text = "auto",
              .choices = kDevices},
    ParamSpec{.key = "trace",
              .label = "Trace kernels",
              .help = "Record every kernel and launch, in an engine of its own",
              .kind = ParamKind::kChoice,
              .default_text = "on",
              .choices = kOffOn,
              .advanced = true},
};

}  // namespace

extern const DemoInfo kLaunches;
constinit const DemoInfo kLaunches = {
    .id = "launches",
    .title = "Launches of one operation",
    .summary = "Run one operation as many launches, as one kernel and as the replay of a CUDA graph.",
    .schema = kSchema,
    .needs_kernels = true,
};

}  // namespace headroom::experiments
