// A run's settings as JSON for other programs.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace headroom::app {

// Numbers are JSON numbers; choices, switches and files are as typed. Model dimensions are those of the named model,
// not the unused parameters of model=custom. For a config.json they come from `provenance` (predict::taken_shape) or,
// if missing there, are null.
nlohmann::json settings_json(std::string_view demo, const std::map<std::string, std::string>& params,
                             const std::map<std::string, std::string>& provenance);

}  // namespace headroom::app
