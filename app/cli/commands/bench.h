// headroom bench: its options, its tables, and its comparisons of a training step.
#pragma once

#include <string>
#include <vector>

#include "app/cli/command.h"
#include "demos/record/recording.h"

namespace headroom::app {

struct BenchOptions : CommonOptions {
  std::vector<std::string> kernels;  // empty: all
};

record::Result<ExitCode> bench_step(const BenchOptions& options);
record::Result<ExitCode> bench_train_step(const BenchOptions& options);

// Not timed: the first steps compile, tune, fill caches and capture a graph.
inline constexpr int kWarmUpSteps = 5;
inline constexpr int kSteps = 35, kQuickSteps = 10;
// Fails if the warm-up would leave no steps.
record::Status check_steps(const record::Params& params);
// Times of the steps after the warm-up, in ns.
std::vector<double> step_times(const record::Recording& recording);
std::string duration(double nanoseconds);

// Llama 3.2 1B on 1 × 1,024 tokens with all of our kernels.
record::Params fast_step();

// A measurement relative to others of its shape and run; negative if unknown.
struct BenchRow {
  double bytes_per_second = -1;
  double part_of_copy = -1;  // 1: as fast as copying as many bytes
  double over_eager = -1;    // 2: twice as fast as eager
  double to_products = -1;   // FLCE: time relative to its three full GEMMs
};
BenchRow bench_row(const record::Recording& recording, const record::Measurement& row);

// Each time next to the times of the copy, the eager composition and the yardstick. One heading per panel and one line
// per form, with the main timing first.
std::string bench_table(const record::Recording& recording);
// GEMM rates by format and size, compared with the data sheet.
std::string product_table(const record::Recording& recording);

}  // namespace headroom::app
