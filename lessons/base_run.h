// Run A of a page: the stored run that differs from the shown run only in the page's switch.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "demos/record/run_info.h"

namespace headroom::lessons {

// Techniques and shape parameters that both runs use and set differently. Fused kernels and the fused loss count as one
// switch (Liger's), and all offloads as another.
std::set<std::string> switches_between(const record::RunInfo& a, const record::RunInfo& b);

// Index of the base with `run`'s model and shape that differs in the fewest switches, if any.
std::optional<std::size_t> nearest_base(const record::RunInfo& run, std::span<const record::RunInfo* const> bases);

}  // namespace headroom::lessons
