// The commands. Each returns its exit code, or an error for `main` to show.
#pragma once

#include "app/cli/options.h"
#include "app/common/exit_codes.h"
#include "demos/record/result.h"

namespace headroom::app {

// Becomes headroom-window; returns only if that fails.
record::Result<ExitCode> open_window(const WindowOptions& options);
record::Result<ExitCode> list(const ListOptions& options);
record::Result<ExitCode> run(const RunOptions& options);
record::Result<ExitCode> sweep(const SweepOptions& options);
record::Result<ExitCode> bench(const BenchOptions& options);
record::Result<ExitCode> report(const ReportOptions& options);
record::Result<ExitCode> figures(const FiguresOptions& options);
record::Result<ExitCode> doctor(const DoctorOptions& options);

}  // namespace headroom::app
