// Points of a sweep and the words for them, shared by figures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

using record::SweepPoint;

// Fills the head. If there is nothing to draw, returns false and sets `empty_reason`.
bool begin_sweep(FigureHead& head, const FigureInput& input);

// Series in the order in which they ran.
std::vector<std::string> series_of(const record::Recording& recording);

// An integer setting of the point; -1 if missing.
std::int64_t setting(const SweepPoint& point, std::string_view key);

record::Params settings_of(const record::Recording& recording, const SweepPoint& point);

// Provenance key of computed points, "predicted" or "formula".
inline constexpr std::string_view kSourceOfPoint = "source";
bool is_computed(const SweepPoint& point);
// Provenance key of rungs that the ladder in progress has not reached.
inline constexpr std::string_view kPendingPoint = "pending";
// Provenance key of the rung that runs now; its peak is the highest so far.
inline constexpr std::string_view kRunningPoint = "running";
// Provenance key of where a measured rung is from: "H200, stored", "here, 12:53".
inline constexpr std::string_view kMadePoint = "made";

// Provenance keys that identify a machine.
inline constexpr std::array<std::string_view, 3> kMachineKeys{"gpu", "cpu", "device"};
// "NVIDIA H200", or a processor with its cores. Empty if the point was not measured or the machine is unknown.
std::string machine_of(const record::RunInfo& sweep, const SweepPoint& point);
// False for different machines, whose numbers must not be subtracted.
bool comparable(const std::string& machine, const std::string& other);

bool completed(const SweepPoint& point);
bool ran_out(const SweepPoint& point);

record::Bytes highest_peak(const record::Recording& recording);
// The unit of peaks.
ShownUnit unit_of_peaks(const record::Recording& recording);

// "all, batch 8, 1,024 tokens: peak 3.35 GiB, 2,468 tokens/s (2,450 to 2,470)"
std::string point_text(const SweepPoint& point, std::string_view name, const ShownUnit& unit);
// "2,468", "331", "33.1": tokens/s, with one decimal below 100.
std::string speed_text(double tokens_per_second);

// A sweep point's peak and speed at `x`.
ChartPoint peak_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit);
ChartPoint speed_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit);

}  // namespace headroom::lessons
