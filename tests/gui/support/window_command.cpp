// Runs headroom-window as a command.
#include "tests/gui/support/window_command.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace headroom::tests {

namespace {

// Processor time of all ended children.
double children_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Ran window(const TestAssets& assets, const std::string& arguments) {
  const std::filesystem::path errors = assets.path() / "stderr";
  const std::string command = "env -u DISPLAY -u WAYLAND_DISPLAY -u HEADROOM_ENGINE HEADROOM_ASSETS='" +
                              assets.path().string() + "' XDG_CONFIG_HOME='" + assets.path().string() + "' '" +
                              HEADROOM_BIN_DIR + "/headroom-window' " + arguments + " 2> '" + errors.string() + "'";
  const double before = children_seconds();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(errors), children_seconds() - before};
}

}  // namespace headroom::tests
