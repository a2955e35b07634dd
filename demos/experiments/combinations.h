// Settings of a training step that cannot be combined, and why; used by engine, window and command line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// `key`=`value` conflicts with `other`=`other_value`. A value may list alternatives ("a|b") or exclude them ("!a|b").
// Keys not in use never conflict.
struct Conflict {
  std::string_view key, value;
  std::string_view other, other_value;
  std::string_view reason;  // a clause after "because"
};

std::span<const Conflict> train_step_conflicts();

const Conflict* conflict_in(const record::Params& params);

// "checkpointing=off cannot be combined with offload.parameters=on: …", for the first conflict.
std::optional<std::string> refused_combination(const record::Params& params);
// For settings that leave the device to the engine.
std::optional<std::string> refused_combination(record::Params params, record::DeviceKind device);

}  // namespace headroom::experiments
