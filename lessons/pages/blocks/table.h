// A table among the words.
#pragma once

#include <string>
#include <vector>

namespace headroom::lessons {

struct TableBlock {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
};

}  // namespace headroom::lessons
