// What a sweep goes over, as it is typed on the command line and in the front matter of a page: "batch=1,4,8".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

struct SweepAxis {
  std::string key;
  std::vector<std::string> values;  // as the schema writes them
};

// One axis for each of `texts`. Refuses a key that is not known, a value out of range and what is named twice.
record::Result<std::vector<SweepAxis>> sweep_axes(record::Schema schema, std::span<const std::string> texts);

// All settings of one run of a sweep, and its name in it.
struct SweptSettings {
  std::string series, label;  // "seq=128 precision=bf16", "batch=4"
  record::Params params;
};

// Every combination; `base` holds all other settings. The values of the first axis follow each other in a series; one
// series for each combination of the others. At least one axis.
std::vector<SweptSettings> swept_settings(const record::Params& base, std::span<const SweepAxis> axes);

}  // namespace headroom::experiments
