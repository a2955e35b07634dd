// The parameters of `bench`: our kernels beside eager compositions and LibTorch's own.
#include <array>

#include "demos/experiments/demo.h"

namespace headroom::experiments {

namespace {

using record::Choice;
using record::ParamKind;
using record::ParamSpec;

constexpr std::array kKernels{
    Choice{"all", "all"},
    Choice{"rms_norm", "RMSNorm"},
    Choice{"add_rms_norm", "Addition and RMSNorm"},
    Choice{"layer_norm", "LayerNorm"},
    Choice{"rope", "RoPE"},
    Choice{"swiglu", "SwiGLU"},
    Choice{"geglu", "GeGLU"},
    Choice{"cross_entropy", "Cross entropy"},
    Choice{"fused_linear_cross_entropy", "Fused linear cross entropy"},
    Choice{"embedding_backward", "Embedding gradient"},
    Choice{"adamw", "AdamW"},
};
constexpr std::array kPanels{
    Choice{"all", "all"},
    Choice{"kernels", "each kernel"},
    Choice{"report", "the report's six"},
};
constexpr std::array kStorages{
    Choice{"auto", "bf16, CPU: fp32"},
    Choice{"bf16", "bf16"},
    Choice{"fp16", "fp16"},
    Choice{"fp32", "fp32"},
};
constexpr std::array kDevices{Choice{"auto", "best there is"}, Choice{"cpu", "CPU"}, Choice{"cuda", "GPU"}};
constexpr std::array kCores{Choice{"spare", "all but one"}, Choice{"all", "all"}};

constexpr std::array kSchema{
    ParamSpec{.key = "kernel",
              .label = "Kernel",
              .help = "What is measured: eager composition, our kernel, and LibTorch's own where there is one",
              .kind = ParamKind::kChoice,
              .default_text = "all",
              .choices = kKernels},
    ParamSpec{.key = "panel",
              .label = "Panels",
              .help = "Each kernel by itself, or the six panels of the report with its shapes",
              .kind = ParamKind::kChoice,
              .default_text = "kernels",
              .choices = kPanels},
    ParamSpec{.key = "storage",
              .label = "Storage",
              .help = "Number format of the tensors; the report's panels keep their own",
              .kind = ParamKind::kChoice,
              .default_text = "auto",
              .choices = kStorages},
    ParamSpec{.key = "device",
              .label = "Run on",
              .help = "The device that is measured; auto takes the GPU where there is one",
              .kind = ParamKind::kChoice,
              .default_text = "auto",
              .choices = kDevices},
    ParamSpec{.key = "quick",
              .label = "Quick",
              .help = "One shape a panel and few repeats",
              .kind = ParamKind::kSwitch,
              .maximum = 1},
    ParamSpec{.key = "rows",
              .label = "Rows",
              .unit = "rows",
              .help = "Tokens of every shape; 0 takes the panel's",
              .kind = ParamKind::kInteger,
              .minimum = 0,
              .maximum = 1 << 20,
              .advanced = true},
    ParamSpec{.key = "width",
              .label = "Width",
              .unit = "elements",
              .help = "Elements a row (cross entropy: of the vocabulary) in place of the panel's widths; 0 takes those",
              .kind = ParamKind::kInteger,
              .minimum = 0,
              .maximum = 1 << 20,
              .advanced = true},
    ParamSpec{.key = "cores",
              .label = "Cores",
              .help = "Cores that compute on the CPU; one that is spared keeps a window alive",
              .kind = ParamKind::kChoice,
              .default_text = "spare",
              .choices = kCores,
              .advanced = true},
};

}  // namespace

extern const DemoInfo kBench;
constinit const DemoInfo kBench = {
    .id = "bench",
    .title = "Fused against unfused",
    .summary = "Time kernels of our own beside eager compositions and LibTorch's, with bytes, bandwidth and memory.",
    .schema = kSchema,
    .records_memory = false,
    .needs_kernels = true,
};

}  // namespace headroom::experiments
