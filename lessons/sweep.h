// What the figures of a sweep have in common: its points, and the words for them.
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

// What a figure of a sweep adds to its head. False: there is nothing to draw, and `empty_reason` says why.
bool begin_sweep(FigureHead& head, const FigureInput& input);

// Names of the series, in the order in which they ran.
std::vector<std::string> series_of(const record::Recording& recording);

// A whole number among the point's settings; -1: it has none.
std::int64_t setting(const SweepPoint& point, std::string_view key);

// Of the demo whose runs the sweep is of; empty: this version does not know it.
record::Schema schema_of(const record::Recording& recording);
// The settings of the run of a point.
record::Params settings_of(const record::Recording& recording, const SweepPoint& point);

// The key in a point's provenance by which it says that it was computed: "predicted", "formula".
inline constexpr std::string_view kSourceOfPoint = "source";
bool is_computed(const SweepPoint& point);
// The key by which a rung says that the ladder that is being run has not come to it yet.
inline constexpr std::string_view kPendingPoint = "pending";

// The keys of provenance that tell one machine from another.
inline constexpr std::array<std::string_view, 3> kMachineKeys{"gpu", "cpu", "device"};
// What the point was measured on: "NVIDIA H200", or a processor with its cores. Empty: nothing measured it, or the
// recording does not say.
std::string machine_of(const record::RunInfo& sweep, const SweepPoint& point);
// False where two points were measured on different machines, whose numbers are not to be subtracted.
bool comparable(const std::string& machine, const std::string& other);

bool completed(const SweepPoint& point);
bool ran_out(const SweepPoint& point);

// The highest peak of its points, and the unit that all its peaks are written in.
record::Bytes highest_peak(const record::Recording& recording);
ShownUnit unit_of_peaks(const record::Recording& recording);

// "all, batch 8, 1,024 tokens: peak 3.35 GiB, 2,468 tokens/s (2,450 to 2,470)"; `name` is what the figure calls it.
std::string point_text(const SweepPoint& point, std::string_view name, const ShownUnit& unit);
// "2,468", "331.3": tokens/s with as many decimals as its size is worth.
std::string speed_text(double tokens_per_second);

// The peak and the speed of a point at place `x` of a chart. One that ran out has no speed.
ChartPoint peak_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit);
ChartPoint speed_at(double x, const SweepPoint& point, std::string_view name, const ShownUnit& unit);

}  // namespace headroom::lessons
