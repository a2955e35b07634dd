// Rectangles and the few shapes that every view is made of. Sizes are px at scale 1 and pass through px(); positions
// are already device pixels.
#pragma once

#include <string_view>

#include "app/window/draw/theme.h"
#include "app/window/draw/type.h"
#include "imgui.h"

namespace headroom::app::window {

// px at scale 1 as whole device pixels.
float px(float length);
// A line's width: at least one device pixel.
float line_px(float width);

struct Rect {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  float centre_x() const { return (x0 + x1) * 0.5f; }
  float centre_y() const { return (y0 + y1) * 0.5f; }
  ImVec2 min() const { return {x0, y0}; }
  ImVec2 max() const { return {x1, y1}; }
  ImVec2 size() const { return {x1 - x0, y1 - y0}; }
  bool contains(ImVec2 p) const { return p.x >= x0 && p.x < x1 && p.y >= y0 && p.y < y1; }

  // Margins in px at scale 1.
  Rect inset(float all) const { return inset(all, all); }
  Rect inset(float horizontal, float vertical) const;
  // Takes a strip off one side (px at scale 1) and returns it.
  Rect cut_top(float height);
  Rect cut_bottom(float height);
  Rect cut_left(float width);
  Rect cut_right(float width);
  // The strip without taking it off.
  Rect top(float height) const { return Rect(*this).cut_top(height); }
  Rect left(float width) const { return Rect(*this).cut_left(width); }
  Rect right(float width) const { return Rect(*this).cut_right(width); }
};

ImDrawList* canvas();  // of the current ImGui window

void fill(const Rect& rect, ImU32 colour, float radius = 0);
void outline(const Rect& rect, ImU32 colour, float radius = 0, float width = 1);
void dashed_outline(const Rect& rect, ImU32 colour, float radius);
void horizontal_line(float x0, float x1, float y, ImU32 colour, float width = 1);
void vertical_line(float x, float y0, float y1, ImU32 colour, float width = 1);
// 45° lines, tied to window coordinates so that neighbouring hatches join.
void hatch(const Rect& rect, ImU32 colour, float step, float width);
void card(const Rect& rect);

// Draws one line of text whose box begins at (x, y); returns its right edge.
float text_at(Face face, float em, float x, float y, ImU32 colour, std::string_view text);
// Inside a rectangle; 0 is left or top, 0.5 the middle, 1 right or bottom. Returns the text's box.
Rect text_in(Face face, float em, const Rect& rect, ImU32 colour, std::string_view text, float align_x = 0,
             float align_y = 0.5f);
// Wrapped to the rectangle's width; `line` is the line height over em. Returns the bottom. draw = false: measures only.
float paragraph(Face face, float em, float line, const Rect& rect, ImU32 colour, std::string_view text,
                bool draw = true);

}  // namespace headroom::app::window
