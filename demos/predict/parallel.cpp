// Cuts weights into slices.
#include "demos/predict/parallel.h"

#include <fmt/format.h>

#include "kernels/adamw_8bit/adamw_8bit.h"

namespace headroom::predict {

std::int64_t ParallelSettings::shards() const {
  if (zero == Zero::kOff) return 1;
  return zero_group == 0 ? ranks : zero_group;
}

record::Status check(const ParallelSettings& parallel) {
  if (parallel.ranks % parallel.shards() == 0) return record::Ok{};
  return record::Error{fmt::format("zero_group={} does not divide ranks={}: use a divisor, or 0 for all ranks.",
                                   parallel.zero_group, parallel.ranks),
                       record::ErrorKind::kRefused};
}

Cut cut_of(std::int64_t elements, std::int64_t shards) {
  if (shards == 1) return {.slice = elements};
  const std::int64_t slice = elements / shards / kernels::kQuantisedBlock * kernels::kQuantisedBlock;
  return {.slice = slice, .rest = elements - shards * slice};
}

}  // namespace headroom::predict
