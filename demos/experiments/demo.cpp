// Demo lookup.
#include "demos/experiments/demo.h"

#include "demos/record/find.h"

namespace headroom::experiments {

const DemoInfo* find_demo(std::string_view id) {
  const DemoInfo* const* const found = record::find_in(demos(), id, &DemoInfo::id);
  return found == nullptr ? nullptr : *found;
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
