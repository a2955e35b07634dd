// Which settings of a training step cannot be combined, and why: one table that engine, window and command line read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// `key`=`value` does not go with `other`=`other_value`. A value may list alternatives parted by '|', or begin with '!'
// for every value but these. Keys that are not in use never conflict.
struct Conflict {
  std::string_view key, value;
  std::string_view other, other_value;
  std::string_view reason;  // a clause after "because": "backward would find …"
};

std::span<const Conflict> train_step_conflicts();

// The first conflict among the settings; null: there is none.
const Conflict* conflict_in(const record::Params& params);

// "checkpointing=off does not go with offload.parameters=on: …" for the first conflict among the settings; none: empty.
std::optional<std::string> refused_combination(const record::Params& params);
// The same where the device is known, which the settings may have left to the engine.
std::optional<std::string> refused_combination(record::Params params, record::DeviceKind device);

}  // namespace headroom::experiments
