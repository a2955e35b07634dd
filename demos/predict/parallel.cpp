// Cuts weights into slices.
#include "demos/predict/parallel.h"

#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::predict {

std::int64_t ParallelSettings::shards() const {
  if (zero == Zero::kOff) return 1;
  return zero_group == 0 ? ranks : zero_group;
}

Cut cut_of(std::int64_t elements, std::int64_t shards) {
  if (shards == 1) return {.slice = elements};
  const std::int64_t slice = elements / shards / kernels::kQuantisedBlock * kernels::kQuantisedBlock;
  return {.slice = slice, .rest = elements - shards * slice};
}

}  // namespace headroom::predict
