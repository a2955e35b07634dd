// The basic shapes of all views. Radii, line widths and em are px at scale 1; rectangles and positions are device
// pixels.
#pragma once

#include <string_view>

#include "app/paint/scene/rect.h"
#include "app/window/draw/theme.h"
#include "app/window/draw/type.h"
#include "imgui.h"

namespace headroom::app::window {

using paint::Rect;

// Converts px at scale 1 to whole device pixels.
float px(float length);
// Returns at least one device pixel.
float line_px(float width);

inline ImVec2 upper_left(const Rect& rect) { return {rect.x0, rect.y0}; }
inline ImVec2 lower_right(const Rect& rect) { return {rect.x1, rect.y1}; }
inline ImVec2 size_of(const Rect& rect) { return {rect.width(), rect.height()}; }

ImDrawList* canvas();            // of the current ImGui window
bool pointed(const Rect& rect);  // by the mouse, in that window

void fill(const Rect& rect, Color color, float radius = 0);
void outline(const Rect& rect, Color color, float radius = 0, float width = 1);
void dashed_outline(const Rect& rect, Color color, float radius);
// Radii are in device px.
void disc(ImVec2 center, float radius, Color color);
void ring(ImVec2 center, float radius, Color color, float width);
void horizontal_line(float x0, float x1, float y, Color color, float width = 1);
void vertical_line(float x, float y0, float y1, Color color, float width = 1);
// 45° lines in window coordinates, so that neighboring hatches join.
void hatch(const Rect& rect, Color color, float step, float width);
void card(const Rect& rect);

// Draws a line of text whose box begins at (x, y); returns its right edge.
float text_at(Face face, float em, float x, float y, Color color, std::string_view text);
// Alignments: 0 is left or top, 0.5 the middle, 1 right or bottom. Returns the text's box.
Rect text_in(Face face, float em, const Rect& rect, Color color, std::string_view text, float align_x = 0,
             float align_y = 0.5f);
// Cuts the text with "…" to the rectangle's width.
Rect text_fit(Face face, float em, const Rect& rect, Color color, std::string_view text, float align_x = 0);
// Wraps to the rectangle's width; `line` is line height over em. Returns the bottom. draw = false only measures.
float paragraph(Face face, float em, float line, const Rect& rect, Color color, std::string_view text,
                bool draw = true);

// `origin`: the upper left corner, on whole pixels.
void paint_scene(ImDrawList& list, const paint::Scene& scene, ImVec2 origin);

// The frame of a figure in the current look.
paint::Frame frame_for(ImVec2 size, bool compact, const paint::Parts& parts);

}  // namespace headroom::app::window
