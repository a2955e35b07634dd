// Starts the window.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "app/cli/grammar.h"
#include "app/common/assets.h"

namespace headroom::app {

namespace {

void declare(CommonOptions&, OptionList& list) { list.engine(); }

// Becomes headroom-window; returns only if that fails.
record::Result<ExitCode> open_window(const CommonOptions& options) {
  const std::string window = (executable_folder() / "headroom-window").string();
  if (access(window.c_str(), X_OK) != 0)
    return record::Error{
        fmt::format("There is no window here ({} is missing): build it with `./run`, or see what works "
                    "without one with `headroom --help`.",
                    window)};
  // The window chooses its engine as every command does; the environment carries the user's wish over.
  if (!options.engine.empty()) setenv("HEADROOM_ENGINE", options.engine.c_str(), 1);
  execl(window.c_str(), "headroom-window", static_cast<char*>(nullptr));
  return record::Error{fmt::format("{} cannot be started: {}.", window, std::strerror(errno))};
}

}  // namespace

extern const Command kWindow;
constinit const Command kWindow{.name = "",
                                .summary = "",
                                .example = "headroom                                                the window",
                                .make = make_invocation<CommonOptions, declare, open_window>};

}  // namespace headroom::app
