// Techniques that take memory less, as switches of a training step's settings.
#pragma once

#include <optional>
#include <span>

#include "demos/predict/techniques.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// The techniques of a training step that are one setting, on or off, and off at first, beside predict::memory_switches():
// each of the fused kernels, products in tf32, and such as keep_output.
std::span<const predict::MemorySwitch> single_switches();
bool is_kernel(const predict::MemorySwitch& single);

// Whether the settings have it on. Of micro-batches: whether there are so many, or a multiple.
bool is_on(const predict::MemorySwitch& what, const record::Params& params);
// The settings with this switch; nothing: it changes nothing, or cannot be turned on.
std::optional<record::Params> turned_on(const predict::MemorySwitch& what, const record::Params& params);
// The settings without it: what it sets has its first value again, and micro-batches are one batch.
std::optional<record::Params> turned_off(const predict::MemorySwitch& what, const record::Params& params);

}  // namespace headroom::experiments
