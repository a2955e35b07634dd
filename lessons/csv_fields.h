// The tables under assets/ that are CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::lessons {

// Of one line. In quotes a comma counts as text, and "" is a quote.
std::vector<std::string> csv_fields(std::string_view line);

}  // namespace headroom::lessons
