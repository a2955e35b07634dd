// Runs headroom-window as a command, without a display.
#pragma once

#include <filesystem>
#include <string>

#include "tests/gui/support/harness.h"

namespace headroom::tests {

struct Ran {
  int status = -1;
  std::string errors;
  double processor_seconds = 0;

  bool says(std::string_view words) const { return errors.find(words) != std::string::npos; }
};

// Ignores the user's settings.
Ran window(const TestAssets& assets, const std::string& arguments);

std::string contents(const std::filesystem::path& path);

}  // namespace headroom::tests
