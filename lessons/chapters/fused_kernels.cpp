// Chapter: fused kernels, and what they save.
#include <array>

#include "lessons/bench.h"
#include "lessons/chapter.h"

namespace headroom::lessons {

extern const Page kEditAKernel;  // edit_a_kernel_page.cpp

namespace {

constexpr std::array<std::string_view, 6> kFigures{"bench_memory",   "bench_times",  "bench_bandwidth",
                                                   "bench_roofline", "report_times", "report_memory"};
constexpr std::array<std::string_view, 1> kRecordings{"tiny_cpu"};

constexpr Page kFusedAgainstUnfused{
    .id = "fused_against_unfused",
    .title = "Fused against unfused",
    .text = "fused_against_unfused.md",
    .demo = "bench",
    .figures = kFigures,
    .recordings = kRecordings,
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
