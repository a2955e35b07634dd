// The report's experiment as a sweep: its three ways to train, and the points of a run that belong to one direction.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lessons/sweep.h"

namespace headroom::lessons {

struct ReportStrategy {
  std::string_view key, label, short_label;  // the key as in the published table and in a sweep's series
  SeriesKind kind;
};
inline constexpr std::array<ReportStrategy, 3> kReportStrategies{{
    {"hf", "Hugging Face's way", "Hugging Face", SeriesKind::kEager},
    {"liger_without_flce", "fused kernels without FLCE", "without FLCE", SeriesKind::kLibrary},
    {"liger_all", "all fused kernels", "all", SeriesKind::kFused},
}};

// One of the two directions: over `over`, with `fixed` = `at`.
struct ReportSweep {
  std::string_view over, fixed;
  std::string_view experiment;  // in the published table
  std::int64_t published_at;    // what the report fixed
  std::int64_t at = 0;
  std::vector<std::int64_t> places;  // values of `over`, ascending
  bool comparable = false;           // the report's model, at the report's fixed value
  bool even = false;                 // places in even steps; else at their values
};

ReportSweep report_over_batch();
ReportSweep report_over_sequence();

// Fills in what the run has. The fixed value is the one with most points: both sweeps share one point.
void find_points(ReportSweep& sweep, const record::Recording& recording);

}  // namespace headroom::lessons
