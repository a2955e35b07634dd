// Axes of a sweep, as in "batch=1,4,8".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

struct SweepAxis {
  std::string key;
  std::vector<std::string> values;  // formatted by the schema
};

// Refuses unknown keys, values out of range, and duplicates.
record::Result<std::vector<SweepAxis>> sweep_axes(record::Schema schema, std::span<const std::string> texts);

struct SweptSettings {
  std::string series, label;  // "seq=128 precision=bf16", "batch=4"
  record::Params params;
};

// Only the first axis varies within a series. Needs at least one axis.
std::vector<SweptSettings> swept_settings(const record::Params& base, std::span<const SweepAxis> axes);

}  // namespace headroom::experiments
