// Techniques that take memory less, as switches of a training step's settings.
#pragma once

#include <optional>

#include "demos/predict/techniques.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// Whether the settings have it on. Of micro-batches: whether there are so many, or a multiple.
bool is_on(const predict::MemorySwitch& what, const record::Params& params);
// The settings with this switch; nothing: it changes nothing, or cannot be turned on.
std::optional<record::Params> turned_on(const predict::MemorySwitch& what, const record::Params& params);
// The settings without it: what it sets has its first value again, and micro-batches are one batch.
std::optional<record::Params> turned_off(const predict::MemorySwitch& what, const record::Params& params);

}  // namespace headroom::experiments
