// Reads the CSV tables under assets/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::lessons {

// Fields of one line. In quotes, a comma is text and "" is a quote.
std::vector<std::string> csv_fields(std::string_view line);

}  // namespace headroom::lessons
