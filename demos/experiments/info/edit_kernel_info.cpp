// Parameters of `edit_kernel`: the reader's own kernel.
#include <array>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "demos/experiments/schema_parts.h"

namespace headroom::experiments {

namespace {

using record::Choice;

constexpr std::array kThreads{Choice{"64", "64"}, Choice{"128", "128"}, Choice{"256", "256"}, Choice{"512", "512"},
                              Choice{"1024", "1,024"}};
constexpr std::array kCompileDevices{Choice{"auto", "automatic"}, Choice{"cpu", "none, only compile"},
                                     Choice{"cuda", "GPU"}};
// Architectures that NVRTC 13 supports.
constexpr std::array kArchitectures{
    Choice{"auto", "this GPU's, else sm_90"},
    Choice{"sm_75", "sm_75"},
    Choice{"sm_80", "sm_80"},
    Choice{"sm_86", "sm_86"},
    Choice{"sm_89", "sm_89"},
    Choice{"sm_90", "sm_90"},
    Choice{"sm_100", "sm_100"},
    Choice{"sm_120", "sm_120"},
};

constexpr std::array kEditKernelSchema{
    // All but vector_add are compared with our kernel.
    own(choice("exercise", "Kernel",
               "Operation to compute; the three exercises start from a kernel that can be improved", kExerciseChoices),
        "rms_norm|fuse_residual|vectorise|registers", "vector_add"),
    shape(number("rows", "Rows N", "rows", "Rows of the tensors", 1, 1 << 15, 8192)),
    shape(number("width", "Width H", "elements", "Numbers per row, in fp32 (WIDTH in the source)", 1, 1 << 14, 4096)),
    choice("threads", "Threads per block", "Threads per block (THREADS in the source)", kThreads, "256"),
    choice("device", "Run on", "Device to run on; auto: the GPU if there is one, otherwise the kernel is only compiled",
           kCompileDevices),
    advanced(choice("arch", "Compile for", "GPU architecture to compile for", kArchitectures)),
    advanced(linear(number("deadline", "Deadline", "s", "Time limit after which the kernel and its engine are killed",
                           1, 600, 10))),
    unset(
        "the exercise's own",
        file("source", "Source", "The kernel in CUDA C++, as text or as the name of a file; empty: the exercise's own",
             record::FileUse::kSource)),
};

}  // namespace

extern const DemoInfo kEditKernel;
constinit const DemoInfo kEditKernel = {
    .id = "edit_kernel",
    .title = "Edit a kernel",
    .summary = "Compile your own kernel, check it against float64 and time it against the built-in one.",
    .schema = kEditKernelSchema,
    .records_memory = false,
    .patience = [](const record::Params& params) { return params.integer("deadline"); },
};

}  // namespace headroom::experiments
