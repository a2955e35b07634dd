// Memory-saving techniques as switches of a training step's settings.
#pragma once

#include <optional>
#include <span>

#include "demos/predict/techniques.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// On/off techniques besides predict::memory_switches(), off by default: fused kernels, tf32 GEMMs, keep_output, ….
std::span<const predict::MemorySwitch> single_switches();
bool is_kernel(const predict::MemorySwitch& single);

// True if the switch is on. A micro-batch switch is on for any multiple of its number.
bool is_on(const predict::MemorySwitch& what, const record::Params& params);
// nullopt if the switch changes nothing or cannot be turned on.
std::optional<record::Params> turned_on(const predict::MemorySwitch& what, const record::Params& params);
// Restores the defaults; micro-batches become one batch again.
std::optional<record::Params> turned_off(const predict::MemorySwitch& what, const record::Params& params);

}  // namespace headroom::experiments
