// What a run was, what it measured and how it ended, as the JSON text inside its chunks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::record {

std::string to_json(const RunInfo& info);
std::string to_json(const Outcome& outcome);
std::string to_json(std::span<const Measurement> measurements);
std::string to_json(const KernelReport& report);
std::string to_json(std::span<const SweepPoint> points);
std::string to_json(std::span<const Histogram> histograms);

// Nothing where the text is not JSON, nests deeper than 8 levels, or a value is missing, of the wrong type or out of
// range.
std::optional<RunInfo> run_info_from_json(std::string_view text);
std::optional<Outcome> outcome_from_json(std::string_view text);
std::optional<std::vector<Measurement>> measurements_from_json(std::string_view text);
std::optional<KernelReport> kernel_report_from_json(std::string_view text);
std::optional<std::vector<SweepPoint>> sweep_points_from_json(std::string_view text);
std::optional<std::vector<Histogram>> histograms_from_json(std::string_view text);

}  // namespace headroom::record
