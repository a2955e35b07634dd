// A figure among the words.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::lessons {

struct FigureBlock {
  std::string figure;             // id, one of the page's
  std::vector<Setting> settings;  // of the figure's schema
};

}  // namespace headroom::lessons
