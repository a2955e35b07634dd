// headroom: explore, run and export without a window; with no command it opens the window.
#include <cstdio>
#include <exception>
#include <string_view>

#include "app/cli/commands.h"
#include "app/cli/output.h"

namespace {

using namespace headroom;
using app::ExitCode;

struct Execute {
  record::Result<ExitCode> operator()(const app::PrintText& print) const {
    app::put(print.text);
    return ExitCode::kDone;
  }
  record::Result<ExitCode> operator()(const app::WindowOptions& options) const { return app::open_window(options); }
  record::Result<ExitCode> operator()(const app::ListOptions& options) const { return app::list(options); }
  record::Result<ExitCode> operator()(const app::RunOptions& options) const { return app::run(options); }
  record::Result<ExitCode> operator()(const app::SweepOptions& options) const { return app::sweep(options); }
  record::Result<ExitCode> operator()(const app::BenchOptions& options) const { return app::bench(options); }
  record::Result<ExitCode> operator()(const app::ReportOptions& options) const { return app::report(options); }
  record::Result<ExitCode> operator()(const app::FiguresOptions& options) const { return app::figures(options); }
  record::Result<ExitCode> operator()(const app::DoctorOptions& options) const { return app::doctor(options); }
};

ExitCode run_main(int argc, char** argv) {
  bool json = false;
  for (int i = 1; i < argc; ++i) json = json || std::string_view(argv[i]) == "--json";
  const auto command = app::parse_command_line(argc, argv);
  record::Result<ExitCode> result =
      command ? std::visit(Execute{}, command.value()) : record::Result<ExitCode>(command.error());
  if (!result) app::show_error(result.error().message, app::exit_code_of(result.error()), json);
  if (!app::all_arrived()) {
    app::say("Standard output could not be written: its disk is full or it was closed.");
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
