// The action of a click on a part of a figure.
#pragma once

#include <string>

namespace headroom::lessons {

// Sets a parameter of the figure.
struct SetParam {
  std::string key, value;
};

}  // namespace headroom::lessons
