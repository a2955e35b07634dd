// What a timeline's plot is made of, below its labels.
#pragma once

#include <span>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"

namespace headroom::app::paint {

// Types of a plot's text.
inline constexpr Type kLabelType{Face::kRegular, 12}, kMediumType{Face::kMedium, 12}, kStrongType{Face::kSemiBold, 12},
    kPeakType{Face::kSemiBold, 13};

// True where the figure or the pointer makes this kind step back.
bool is_quiet(const Frame& frame, const lessons::Timeline& timeline, int kind);
Color fill_of(const Frame& frame, const lessons::Timeline& timeline, int kind);

// Where the allocation that failed is drawn; empty where there is none.
Rect failed_rect(const Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
// The corner points of a step function inside the plot.
std::vector<Point> step_points(const lessons::StepLine& line, const PlotMap& map, bool whole_pixels, float width);

// Lanes below a timeline: the room that they want of `room`, that of their names, and they themselves in `area`, on the x
// axis of `map`.
float lanes_height(const Sheet& sheet, const lessons::Lanes& panel, float room);
float lane_names_width(const Sheet& sheet, const lessons::Lanes& panel);
void lay_out_lanes_below(Sheet& sheet, const PlotMap& map, const lessons::Lanes& panel, Rect area);

// Of the x axis, below the plot: labels that fit and are not under what has its place already; the last one says the unit.
void lay_out_time_ticks(Sheet& sheet, const PlotMap& map, std::span<const Rect> taken);
void lay_out_danger_zone(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
void lay_out_stack(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map,
                   const std::vector<PxColumn>& columns);
void lay_out_failed(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
// Draws the limit and every line that got a label; unlabeled lines are left out.
void lay_out_lines(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map, const std::vector<bool>& named);
void lay_out_hidden(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map);
void lay_out_cursor(Sheet& sheet, const lessons::Timeline& timeline, const PlotMap& map,
                    const std::vector<PxColumn>& columns, float from_y, float to_y);

}  // namespace headroom::app::paint
