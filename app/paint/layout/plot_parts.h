// The parts of a timeline's plot below its labels.
#pragma once

#include <span>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"

namespace headroom::app::paint {

inline constexpr Type kLabelType{Face::kRegular, 12}, kMediumType{Face::kMedium, 12}, kStrongType{Face::kSemiBold, 12},
    kPeakType{Face::kSemiBold, 13};

// True if the figure or the pointer mutes this kind.
bool is_quiet(const Frame& frame, const lessons::Timeline& timeline, int kind);
Color fill_of(const Frame& frame, const lessons::Timeline& timeline, int kind);

// Empty if no allocation failed.
Rect failed_rect(const Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
// A step function's corners inside the plot.
std::vector<Point> step_points(const lessons::StepLine& line, const PlotMap& map, bool whole_pixels, float width);

// Lanes below a timeline, on its x axis. `room`: height of plot and lanes together.
float lanes_height(const Sheet& sheet, const lessons::Lanes& panel, float room);
float lane_names_width(const Sheet& sheet, const lessons::Lanes& panel);
// The lanes, with a blank one for each lane of `whole` that comes with the answer.
lessons::Lanes with_room(lessons::Lanes lanes, const lessons::Lanes& whole);
void lay_out_lanes_below(Sheet& sheet, const PlotMap& map, const lessons::Lanes& panel, Rect area);

// Draws the labels that fit and avoid `taken`; the last one includes the unit.
void lay_out_time_ticks(Sheet& sheet, const PlotMap& map, std::span<const Rect> taken);
void lay_out_danger_zone(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
void lay_out_stack(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map,
                   const std::vector<PxColumn>& columns);
void lay_out_failed(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
void lay_out_lines(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map, const std::vector<bool>& named);
void lay_out_hidden(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
void lay_out_cursor(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map,
                    const std::vector<PxColumn>& columns, float from_y, float to_y);

}  // namespace headroom::app::paint
