// Reads the pages' CSV tables. Wrong lines become problems.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/document.h"

namespace headroom::lessons {

using TakeCsvLine = std::function<void(std::vector<std::string>& fields, int number)>;

// Calls `take` for each line after the header, with a field per column and the line's number from 1. Lines with another
// number of fields are reported: "An item has 2 fields (…), not 3."
void read_csv_lines(std::string_view text, std::string_view file, std::string_view row,
                    const std::vector<std::string_view>& columns, Problems& problems, const TakeCsvLine& take);

}  // namespace headroom::lessons
