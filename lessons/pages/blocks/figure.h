// A figure among the words.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::lessons {

struct FigureBlock {
  std::string figure;
  std::vector<Setting> settings;
};

}  // namespace headroom::lessons
