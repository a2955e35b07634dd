// JSON written by other programs, and files mistaken for it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "demos/record/result.h"

namespace headroom::llama {

// Parses one object. Python's bare Infinity and NaN become null. Errors name the file and recognize git LFS pointers,
// web pages, UTF-16 and truncation; otherwise they quote the line.
record::Result<nlohmann::json> parse_json_text(std::string_view text, const std::string& file);

}  // namespace headroom::llama
