// Demo lookup.
#include "demos/experiments/demo.h"

namespace headroom::experiments {

const DemoInfo* find_demo(std::string_view id) {
  for (const DemoInfo* demo : demos()) {
    if (demo->id == id) return demo;
  }
  return nullptr;
}

bool trains(std::string_view id) {
  const DemoInfo* const demo = find_demo(id);
  return demo != nullptr && demo->trains;
}

void use_own_kernels(record::Params& params) {
  for (const record::ParamSpec& spec : params.schema())
    if (spec.own_kernels.composed && params.in_use(spec.key)) (void)params.set(spec.key, spec.own_kernels.values);
}

}  // namespace headroom::experiments
