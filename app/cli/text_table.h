// Formats rows as text: words left-aligned, numbers right-aligned.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::app {

// The first row is the head. Columns from `first_number` on are right-aligned; those empty below the head are
// omitted. Lines are indented by two and end with a newline.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t first_number);

}  // namespace headroom::app
