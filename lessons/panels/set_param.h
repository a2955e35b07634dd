// The action of a click on a part of a figure.
#pragma once

#include <string>

namespace headroom::lessons {

// Sets a parameter of the figure, or a setting of the page.
struct SetParam {
  std::string key, value;
};

}  // namespace headroom::lessons
