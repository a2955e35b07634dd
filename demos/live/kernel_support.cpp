// The GPU's compute capability against what the kernels were compiled for.
#include "demos/live/kernel_support.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "kernels/device.h"

namespace headroom::live {

std::string lacks_kernels(const protocol::DeviceFacts& gpu, const MachineFacts& machine) {
  const auto capability = machine.facts.find("compute_capability");
  if (gpu.kind != record::DeviceKind::kGpu || capability == machine.facts.end()) return {};
  const long have = std::lround(std::strtod(capability->second.c_str(), nullptr) * 10);
  const int need = kernels::oldest_capability();
  if (have >= need) return {};
  return fmt::format("{} has compute capability {}, and the kernels of this build need {}.{}", gpu.name,
                     capability->second, need / 10, need % 10);
}

bool compose(record::Params& params) {
  const record::Params asked = params;
  if (params.has("loss")) (void)params.set("loss", "plain");
  for (const record::ParamSpec& spec : params.schema()) {
    if (spec.key.starts_with("fused.")) (void)params.set(spec.key, "off");
  }
  return !(params == asked);
}

}  // namespace headroom::live
