// JSON that another program wrote, and files that are found in its place.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::llama {

// One object. Infinity and NaN, which Python writes without quotes, are read as null. Refused with a sentence that names the
// file: a pointer of git LFS, a web page, UTF-16, an end in the middle, and the line of what is no JSON.
record::Result<nlohmann::json> parse_json_text(std::string_view text, const std::string& file);

}  // namespace headroom::llama
