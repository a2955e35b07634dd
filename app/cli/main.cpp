// headroom: explores, runs and exports without a window; without a command it opens the window.
#include <algorithm>
#include <exception>

#include "app/cli/grammar.h"
#include "app/cli/output.h"

namespace {

using namespace headroom;
using app::ExitCode;

ExitCode run_main(int argc, char** argv) {
  const app::CommandLine line = app::parse({argv + std::min(argc, 1), argv + argc});
  const record::Result<ExitCode> result = line.invocation ? line.invocation.value()->run() : line.invocation.error();
  if (!result && !result.error().message.empty())
    app::show_error(result.error().message, app::exit_code_of(result.error()), line.json);
  if (!app::all_arrived()) {
    app::say("Standard output cannot be written: the disk is full or the output was closed.");
    return ExitCode::kNotWritten;
  }
  return result ? result.value() : app::exit_code_of(result.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run_main(argc, argv));
  } catch (const std::exception& error) {
    app::say(std::string("This is a bug in Headroom, please report it: ") + error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
