// Rows of words as columns of text: words to the left, numbers to the right.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headroom::app {

// The first row is the head. Columns from `first_number` on are right-aligned; a column that is empty below its head is
// left out. Each line is indented by two and ends with a newline.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t first_number);

}  // namespace headroom::app
