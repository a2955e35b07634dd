// A figure among the words.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::lessons {

struct FigureBlock {
  std::string figure;             // id of a figure of the page
  std::vector<Setting> settings;  // the figure's parameters
};

}  // namespace headroom::lessons
