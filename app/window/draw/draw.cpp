// Rectangles and the few shapes that every view is made of.
#include "app/window/draw/draw.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <numbers>

namespace headroom::app::window {

float px(float length) { return std::round(length * look().scale); }
float line_px(float width) { return std::max(1.0f, px(width)); }

Rect Rect::inset(float horizontal, float vertical) const {
  return {x0 + px(horizontal), y0 + px(vertical), x1 - px(horizontal), y1 - px(vertical)};
}

Rect Rect::cut_top(float height) {
  const Rect strip{x0, y0, x1, std::min(y1, y0 + px(height))};
  y0 = strip.y1;
  return strip;
}

Rect Rect::cut_bottom(float height) {
  const Rect strip{x0, std::max(y0, y1 - px(height)), x1, y1};
  y1 = strip.y0;
  return strip;
}

Rect Rect::cut_left(float width) {
  const Rect strip{x0, y0, std::min(x1, x0 + px(width)), y1};
  x0 = strip.x1;
  return strip;
}

Rect Rect::cut_right(float width) {
  const Rect strip{std::max(x0, x1 - px(width)), y0, x1, y1};
  x1 = strip.x0;
  return strip;
}

ImDrawList* canvas() { return ImGui::GetWindowDrawList(); }

void fill(const Rect& rect, ImU32 colour, float radius) {
  canvas()->AddRectFilled(rect.min(), rect.max(), colour, px(radius));
}

void outline(const Rect& rect, ImU32 colour, float radius, float width) {
  canvas()->AddRect(rect.min(), rect.max(), colour, px(radius), std::max(1.0f, width * look().scale));
}

void dashed_outline(const Rect& rect, ImU32 colour, float radius) {
  const float r = std::min(px(radius), rect.height() * 0.5f), dash = px(3), step = px(6), w = line_px(1);
  for (float x = rect.x0 + r; x < rect.x1 - r; x += step) {
    const float end = std::min(x + dash, rect.x1 - r);
    canvas()->AddRectFilled({x, rect.y0}, {end, rect.y0 + w}, colour);
    canvas()->AddRectFilled({x, rect.y1 - w}, {end, rect.y1}, colour);
  }
  for (float y = rect.y0 + r; y < rect.y1 - r; y += step) {
    const float end = std::min(y + dash, rect.y1 - r);
    canvas()->AddRectFilled({rect.x0, y}, {rect.x0 + w, end}, colour);
    canvas()->AddRectFilled({rect.x1 - w, y}, {rect.x1, end}, colour);
  }
  // Corners: arcs of about a dash each.
  constexpr float kQuarter = std::numbers::pi_v<float> / 2;
  const ImVec2 centres[4] = {
      {rect.x1 - r, rect.y1 - r}, {rect.x0 + r, rect.y1 - r}, {rect.x0 + r, rect.y0 + r}, {rect.x1 - r, rect.y0 + r}};
  const int dashes = std::max(1, static_cast<int>(std::round(kQuarter * r / step)));
  for (int corner = 0; corner < 4; ++corner)
    for (int i = 0; i < dashes; ++i) {
      const float from =
          kQuarter * (static_cast<float>(corner) + (static_cast<float>(i) + 0.25f) / static_cast<float>(dashes));
      canvas()->PathArcTo(centres[corner], r - w * 0.5f, from, from + kQuarter * 0.5f / static_cast<float>(dashes));
      canvas()->PathStroke(colour, w);
    }
}

void horizontal_line(float x0, float x1, float y, ImU32 colour, float width) {
  canvas()->AddRectFilled({x0, std::round(y)}, {x1, std::round(y) + line_px(width)}, colour);
}

void vertical_line(float x, float y0, float y1, ImU32 colour, float width) {
  canvas()->AddRectFilled({std::round(x), y0}, {std::round(x) + line_px(width), y1}, colour);
}

void hatch(const Rect& rect, ImU32 colour, float step, float width) {
  if (rect.width() <= 0 || rect.height() <= 0) return;
  const float distance = std::max(2.0f, px(step));
  canvas()->PushClipRect(rect.min(), rect.max(), true);
  // Lines x + y = k·distance in window coordinates.
  const float first = std::floor((rect.x0 + rect.y0) / distance) * distance;
  for (float sum = first; sum <= rect.x1 + rect.y1 + distance; sum += distance)
    canvas()->AddLine({sum - rect.y1, rect.y1}, {sum - rect.y0, rect.y0}, colour, std::max(1.0f, width * look().scale));
  canvas()->PopClipRect();
}

void card(const Rect& rect) {
  fill(rect, theme().card, 8);
  outline(rect, theme().hairline, 8);
}

float text_at(Face face, float em, float x, float y, ImU32 colour, std::string_view text) {
  if (text.empty()) return x;
  canvas()->AddText(font_of(face), font_size(face, em), {std::round(x), std::round(y)}, colour, text.data(),
                    text.data() + text.size());
  return x + text_width(face, em, text);
}

Rect text_in(Face face, float em, const Rect& rect, ImU32 colour, std::string_view text, float align_x, float align_y) {
  const ImVec2 size = text_size(face, em, text);
  const float x = rect.x0 + (rect.width() - size.x) * align_x;
  const float y = rect.y0 + (rect.height() - size.y) * align_y;
  text_at(face, em, x, y, colour, text);
  return {x, y, x + size.x, y + size.y};
}

float paragraph(Face face, float em, float line, const Rect& rect, ImU32 colour, std::string_view text, bool draw) {
  const float size = font_size(face, em), step = px(em * line);
  ImFont* font = font_of(face);
  float y = rect.y0;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    const char* stop = font->CalcWordWrapPosition(size, at, end, std::max(1.0f, rect.width()));
    if (stop == at) ++stop;
    const char* newline = std::find(at, stop, '\n');
    stop = newline;
    if (draw) text_at(face, em, rect.x0, y + (step - size) * 0.5f, colour, {at, static_cast<std::size_t>(stop - at)});
    y += step;
    at = stop;
    if (at < end && *at == '\n') ++at;
    while (at < end && *at == ' ') ++at;
  }
  return y;
}

}  // namespace headroom::app::window
