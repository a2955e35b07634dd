// Keys of outcomes and verdicts.
#include "demos/record/rows/outcome.h"

#include "demos/record/rows/kernel_report.h"

namespace headroom::record {

std::string_view key_of(OutcomeKind outcome) {
  static constexpr std::array<std::string_view, kNumOutcomes> kKeys = {"completed", "out_of_memory", "cancelled",
                                                                       "refused",   "engine_lost",   "failed"};
  return kKeys.at(static_cast<std::size_t>(outcome));
}

std::string_view key_of(KernelVerdict verdict) {
  static constexpr std::array<std::string_view, kNumKernelVerdicts> kKeys = {"not_compiled",  "compiled", "crashed",
                                                                             "out_of_bounds", "wrong",    "right"};
  return kKeys.at(static_cast<std::size_t>(verdict));
}

}  // namespace headroom::record
