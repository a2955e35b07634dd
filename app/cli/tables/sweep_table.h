// Formats a sweep as a table and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "demos/record/recording.h"

namespace headroom::app {

std::string sweep_table(const record::Recording& sweep);
nlohmann::json sweep_json(const record::Recording& sweep, std::size_t planned);

}  // namespace headroom::app
