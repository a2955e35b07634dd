// The report's experiment as a sweep: its three strategies, and a run's points over batch or sequence.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lessons/measurements/sweep.h"

namespace headroom::lessons {

// How the figures name and draw a strategy of the report.
struct StrategyLook {
  std::string_view key, label, short_label;  // key: as in the published table and in series
  SeriesKind kind;
};
inline constexpr std::array<StrategyLook, 3> kStrategyLooks{{
    {"hf", "Hugging Face's way", "Hugging Face", SeriesKind::kEager},
    {"liger_without_flce", "fused kernels without FLCE", "without FLCE", SeriesKind::kLibrary},
    {"liger_all", "all fused kernels", "all", SeriesKind::kFused},
}};

// A sweep over setting `over` with setting `fixed` = `at`.
struct ReportSweep {
  std::string_view over, fixed;
  std::string_view experiment;  // name in the published table
  std::int64_t published_at;    // the report's fixed value
  std::int64_t at = 0;
  std::vector<std::int64_t> places;  // values of `over`, ascending
  bool comparable = false;           // has the report's model and fixed value
  bool even = false;                 // even spacing on the axis; else places at their values
};

ReportSweep report_over_batch();
ReportSweep report_over_sequence();

// Fills in the run's points. `at` is the fixed value with most points, because one run holds both sweeps.
void find_points(ReportSweep& sweep, const record::Recording& recording);

}  // namespace headroom::lessons
