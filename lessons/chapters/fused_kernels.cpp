// Chapter: fused kernels, and what they save.
#include <array>

#include "lessons/bench.h"
#include "lessons/chapter.h"

namespace headroom::lessons {

extern const Page kEditAKernel;  // edit_a_kernel_page.cpp

namespace {

constexpr std::array<std::string_view, 6> kFigures{"bench_memory",   "bench_times",  "bench_bandwidth",
                                                   "bench_roofline", "report_times", "report_memory"};
constexpr std::array<std::string_view, 1> kRecordings{"kernels_cpu"};

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

constexpr std::array<const Page*, 2> kPages{&kFusedAgainstUnfused, &kEditAKernel};

}  // namespace

extern const Chapter kFusedKernels;
constinit const Chapter kFusedKernels{
    .id = "fused_kernels",
    .title = "Fused kernels",
    .pages = kPages,
};

}  // namespace headroom::lessons
