// Chapter: fused kernels, and what they save.
#include <array>

#include "lessons/bench.h"
#include "lessons/chapter.h"

namespace headroom::lessons {

extern const Page kEditAKernel;  // edit_a_kernel_page.cpp

namespace {

constexpr std::array<std::string_view, 6> kFigures{"bench_memory",   "bench_times",  "bench_bandwidth",
                                                   "bench_roofline", "report_times", "report_memory"};
constexpr std::array<std::string_view, 2> kRecordings{"kernels_h200", "kernels_cpu"};

// What the eager RMSNorm takes beside its inputs, forward and backward, at the widest shape of the run, in bytes.
double eager_memory(const record::Ledger& run) {
  const Measurement* widest = nullptr;
  for (const Measurement& row : run.recording().measurements()) {
    if (row.panel != "rms_norm" || row.variant != "eager" || row.pass != "full" || row.extra_memory < 0) continue;
    if (widest == nullptr || row.width > widest->width) widest = &row;
  }
  return widest == nullptr ? -1 : static_cast<double>(widest->extra_memory);
}

constexpr Prediction kPrediction{
    .figure = "bench_memory",
    .low = 0,
    .high = 16.0 * record::kGiB,
    .answer = eager_memory,
};

constexpr Page kFusedAgainstUnfused{
    .id = "fused_against_unfused",
    .title = "Fused against unfused",
    .text = "fused_against_unfused.md",
    .demo = "bench",
    .figures = kFigures,
    .recordings = kRecordings,
    .prediction = &kPrediction,
};

constexpr std::array<std::string_view, 4> kStepFigures{"kernel_timeline", "launches", "memory_timeline", "loss_curves"};
constexpr std::array<std::string_view, 2> kStepRecordings{"llama-3.2-1b_h200_fused_kernels",
                                                          "llama-3.2-1b_h200_eager_kernels"};

constexpr Page kKernelsOfAStep{
    .id = "kernels_of_a_step",
    .title = "The kernels of a step",
    .text = "kernels_of_a_step.md",
    .demo = "train_step",
    .figures = kStepFigures,
    .recordings = kStepRecordings,
};

constexpr std::array<std::string_view, 1> kFormFigures{"launch_forms"};
constexpr std::array<std::string_view, 2> kFormRecordings{"rms_norm_h200_launches", "rms_norm_cpu_launches"};

constexpr Page kManyLaunches{
    .id = "many_launches",
    .title = "Many launches, one kernel",
    .text = "many_launches.md",
    .demo = "launches",
    .figures = kFormFigures,
    .recordings = kFormRecordings,
};

constexpr std::array<const Page*, 4> kPages{&kFusedAgainstUnfused, &kKernelsOfAStep, &kManyLaunches, &kEditAKernel};

}  // namespace

extern const Chapter kFusedKernels;
constinit const Chapter kFusedKernels{
    .id = "fused_kernels",
    .title = "Fused kernels",
    .pages = kPages,
};

}  // namespace headroom::lessons
