// The GPU's compute capability against what the kernels were compiled for.
#include "demos/engine/live/trace/kernel_support.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "kernels/common/device.h"

namespace headroom::live {

namespace {

// Settings whose kernels have no like in PyTorch, and what to take instead.
struct OnlyByKernels {
  std::string_view key, value, instead;
};
constexpr std::array kOnlyByKernels{
    OnlyByKernels{"optimizer", "adamw_8bit", "optimizer=adamw"},
    OnlyByKernels{"optimizer", "galore", "optimizer=adamw"},
    OnlyByKernels{"adapters", "qlora", "adapters=lora"},
    OnlyByKernels{"precision", "fp16_mixed", "precision=bf16_mixed"},  // its loss scale
    OnlyByKernels{"moments", "fp32", "moments=model"},
    OnlyByKernels{"moments", "bf16", "moments=model"},
    OnlyByKernels{"rounding", "stochastic", "rounding=nearest"},
    OnlyByKernels{"histogram", "on", "histogram=off"},
    OnlyByKernels{"cuda_graph", "on", "cuda_graph=off"},                  // its steps are counted on the device
    OnlyByKernels{"offload.optimizer", "host", "offload.optimizer=off"},  // the search for what is not finite
    OnlyByKernels{"offload.optimizer", "file", "offload.optimizer=off"},
    // Timed beside the reader's kernel.
    OnlyByKernels{"exercise", "rms_norm", "exercise=vector_add"},
    OnlyByKernels{"exercise", "fuse_residual", "exercise=vector_add"},
    OnlyByKernels{"exercise", "vectorise", "exercise=vector_add"},
    OnlyByKernels{"exercise", "registers", "exercise=vector_add"},
};

}  // namespace

std::string lacks_kernels(const protocol::DeviceFacts& gpu, const MachineFacts& machine) {
  const auto capability = machine.facts.find("compute_capability");
  if (gpu.kind != record::DeviceKind::kGpu || capability == machine.facts.end()) return {};
  const long have = std::lround(std::strtod(capability->second.c_str(), nullptr) * 10);
  const int need = kernels::oldest_capability();
  if (have >= need) return {};
  return fmt::format("{} has compute capability {}, and the kernels of this build need {}.{}", gpu.name,
                     capability->second, need / 10, need % 10);
}

std::string only_by_kernels(const record::Params& params) {
  for (const auto& [key, value, instead] : kOnlyByKernels) {
    if (!params.has(key) || !params.in_use(key) || params.as_text(key) != value) continue;
    return fmt::format("{}={} is done by them alone: take {}, or device=cpu.", key, value, instead);
  }
  return {};
}

bool compose(record::Params& params) {
  const record::Params asked = params;
  if (params.has("loss") && params.text("loss") == "flce") (void)params.set("loss", "plain");
  for (const record::ParamSpec& spec : params.schema()) {
    if (spec.key.starts_with("fused.")) (void)params.set(spec.key, "off");
  }
  return !(params == asked);
}

}  // namespace headroom::live
