// What a run was and how it ended, as the JSON text inside its chunks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "demos/record/recording.h"

namespace headroom::record {

std::string to_json(const RunInfo& info);
std::string to_json(const Outcome& outcome);

// Nothing where the text is not JSON, nests deeper than 8 levels, or a value is missing, of the wrong type or out of
// range.
std::optional<RunInfo> run_info_from_json(std::string_view text);
std::optional<Outcome> outcome_from_json(std::string_view text);

}  // namespace headroom::record
