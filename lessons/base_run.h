// Run A of a page: the stored run that differs from the one on show in the page's switch alone.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "demos/record/run_info.h"

namespace headroom::lessons {

// Techniques and parts of the shape that both runs use and have set in another way. Kernels and the fused loss are one switch
// together, Liger's; what is moved to the host is one, of several degrees.
std::set<std::string> switches_between(const record::RunInfo& a, const record::RunInfo& b);

// Of those with the model and shape of `run` the one with the fewest other switches: an index. Nothing: there is none.
std::optional<std::size_t> nearest_base(const record::RunInfo& run, std::span<const record::RunInfo* const> bases);

}  // namespace headroom::lessons
