// The settings of a run as JSON, for programs that read them.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace headroom::app {

// Numbers as numbers; choices, switches and files as they are typed. The lengths of a model are those of the model that
// `model` and `weights` name, which the parameters of model=custom do not say: `provenance` has them for a config.json
// (predict::taken_shape), and without it they are null.
nlohmann::json settings_json(std::string_view demo, const std::map<std::string, std::string>& params,
                             const std::map<std::string, std::string>& provenance);

}  // namespace headroom::app
