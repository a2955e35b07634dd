// The part of YAML that `accelerate config` writes: lines "key: value", nested by indentation, and lists of values.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::configs {

using Json = nlohmann::ordered_json;  // keeps the file's order

// Anchors, tags, block texts and maps in braces are refused. As in PyYAML, an unquoted yes, no, on or off is a boolean;
// unlike there, 2e8 is a number. An error is one sentence with file, line and cure.
record::Result<Json> parse_yaml(std::string_view text, const std::string& file);

}  // namespace headroom::configs
