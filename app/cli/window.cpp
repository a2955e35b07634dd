// Starts the window.
#include "app/cli/window.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/grammar.h"
#include "app/common/assets.h"

namespace headroom::app {

namespace {

void declare_window(CommonOptions&, OptionList& list) { list.engine(); }

record::Result<ExitCode> open_window(const CommonOptions& options) { return start_window(options.engine, {}); }

}  // namespace

record::Error start_window(const std::string& engine, const std::vector<std::string>& words) {
  const std::string window = (executable_folder() / "headroom-window").string();
  if (access(window.c_str(), X_OK) != 0)
    return record::Error{
        fmt::format("The window is not installed ({} is missing): build it with `./run`, or see `headroom --help` for "
                    "what works without it.",
                    window)};
  // The environment passes the user's choice to the window.
  if (!engine.empty()) setenv("HEADROOM_ENGINE", engine.c_str(), 1);
  std::vector<char*> line;
  std::string name = "headroom-window";
  std::vector<std::string> owned = words;
  line.push_back(name.data());
  for (std::string& word : owned) line.push_back(word.data());
  line.push_back(nullptr);
  execv(window.c_str(), line.data());
  return record::Error{fmt::format("{} cannot be started: {}.", window, std::strerror(errno))};
}

extern const Command kWindow;
constinit const Command kWindow{.name = "",
                                .summary = "",
                                .example = "headroom                                                the window",
                                .make = make_invocation<CommonOptions, declare_window, open_window>};

}  // namespace headroom::app
