// Compares the GPU's compute capability with the kernels'.
#include "demos/engine/live/trace/kernel_support.h"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace headroom::live {

std::string lacks_kernels(const protocol::DeviceFacts& gpu, const MachineFacts& machine) {
  const auto capability = machine.facts.find("compute_capability");
  if (gpu.kind != record::DeviceKind::kGpu || capability == machine.facts.end()) return {};
  const long have = std::lround(std::strtod(capability->second.c_str(), nullptr) * 10);
  const int need = machine.oldest_capability;
  if (have >= need) return {};
  return fmt::format("{} has compute capability {}, but the kernels of this build need {}.{}", gpu.name,
                     capability->second, need / 10, need % 10);
}

std::string only_by_kernels(const record::Params& params) {
  for (const record::ParamSpec& spec : params.schema()) {
    const std::string value = params.as_text(spec.key);
    if (spec.own_kernels.values.empty() || spec.own_kernels.composed || !params.in_use(spec.key)) continue;
    const bool composed = record::choices_of(spec).empty() ? value == spec.own_kernels.instead
                                                           : !record::is_one_of(value, spec.own_kernels.values);
    if (composed) continue;
    return fmt::format("{0}={1} needs these kernels: use {0}={2} or device=cpu.", spec.key, value,
                       spec.own_kernels.instead);
  }
  return {};
}

bool compose(record::Params& params) {
  const record::Params asked = params;
  for (const record::ParamSpec& spec : params.schema())
    if (spec.own_kernels.composed && record::is_one_of(params.as_text(spec.key), spec.own_kernels.values))
      (void)params.set(spec.key, spec.own_kernels.instead);
  return !(params == asked);
}

}  // namespace headroom::live
