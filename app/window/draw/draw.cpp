// The basic shapes of all views.
#include "app/window/draw/draw.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom::app::window {

float px(float length) { return std::round(length * look().scale); }
float line_px(float width) { return std::max(1.0f, px(width)); }

ImDrawList* canvas() { return ImGui::GetWindowDrawList(); }

bool pointed(const Rect& rect) {
  return ImGui::IsMouseHoveringRect(upper_left(rect), lower_right(rect)) && ImGui::IsWindowHovered();
}

void fill(const Rect& rect, Color color, float radius) {
  canvas()->AddRectFilled(upper_left(rect), lower_right(rect), as_u32(color), px(radius));
}

void outline(const Rect& rect, Color color, float radius, float width) {
  canvas()->AddRect(upper_left(rect), lower_right(rect), as_u32(color), px(radius),
                    std::max(1.0f, width * look().scale));
}

void dashed_outline(const Rect& rect, Color color, float radius) {
  const float r = std::min(px(radius), rect.height() * 0.5f), dash = px(3), step = px(6), w = line_px(1);
  const ImU32 u32 = as_u32(color);
  for (float x = rect.x0 + r; x < rect.x1 - r; x += step) {
    const float end = std::min(x + dash, rect.x1 - r);
    canvas()->AddRectFilled({x, rect.y0}, {end, rect.y0 + w}, u32);
    canvas()->AddRectFilled({x, rect.y1 - w}, {end, rect.y1}, u32);
  }
  for (float y = rect.y0 + r; y < rect.y1 - r; y += step) {
    const float end = std::min(y + dash, rect.y1 - r);
    canvas()->AddRectFilled({rect.x0, y}, {rect.x0 + w, end}, u32);
    canvas()->AddRectFilled({rect.x1 - w, y}, {rect.x1, end}, u32);
  }
  constexpr float kQuarter = std::numbers::pi_v<float> / 2;
  const ImVec2 centers[4] = {
      {rect.x1 - r, rect.y1 - r}, {rect.x0 + r, rect.y1 - r}, {rect.x0 + r, rect.y0 + r}, {rect.x1 - r, rect.y0 + r}};
  const int dashes = std::max(1, static_cast<int>(std::round(kQuarter * r / step)));
  for (int corner = 0; corner < 4; ++corner)
    for (int i = 0; i < dashes; ++i) {
      const float from =
          kQuarter * (static_cast<float>(corner) + (static_cast<float>(i) + 0.25f) / static_cast<float>(dashes));
      canvas()->PathArcTo(centers[corner], r - w * 0.5f, from, from + kQuarter * 0.5f / static_cast<float>(dashes));
      canvas()->PathStroke(u32, w);
    }
}

void disc(ImVec2 center, float radius, Color color) { canvas()->AddCircleFilled(center, radius, as_u32(color)); }

void ring(ImVec2 center, float radius, Color color, float width) {
  canvas()->AddCircle(center, radius, as_u32(color), 0, line_px(width));
}

void horizontal_line(float x0, float x1, float y, Color color, float width) {
  canvas()->AddRectFilled({x0, std::round(y)}, {x1, std::round(y) + line_px(width)}, as_u32(color));
}

void vertical_line(float x, float y0, float y1, Color color, float width) {
  canvas()->AddRectFilled({std::round(x), y0}, {std::round(x) + line_px(width), y1}, as_u32(color));
}

void hatch(const Rect& rect, Color color, float step, float width) {
  if (rect.width() <= 0 || rect.height() <= 0) return;
  const float distance = std::max(2.0f, px(step));
  canvas()->PushClipRect(upper_left(rect), lower_right(rect), true);
  // Lines x + y = k·distance in window coordinates.
  const float first = std::floor((rect.x0 + rect.y0) / distance) * distance;
  for (float sum = first; sum <= rect.x1 + rect.y1 + distance; sum += distance)
    canvas()->AddLine({sum - rect.y1, rect.y1}, {sum - rect.y0, rect.y0}, as_u32(color),
                      std::max(1.0f, width * look().scale));
  canvas()->PopClipRect();
}

void card(const Rect& rect) {
  fill(rect, theme().card, 8);
  outline(rect, theme().hairline, 8);
}

float text_at(Face face, float em, float x, float y, Color color, std::string_view text) {
  if (text.empty()) return x;
  canvas()->AddText(font_of(face), font_size(face, em), {std::round(x), std::round(y)}, as_u32(color), text.data(),
                    text.data() + text.size());
  return x + text_width(face, em, text);
}

Rect text_in(Face face, float em, const Rect& rect, Color color, std::string_view text, float align_x, float align_y) {
  const ImVec2 size = text_size(face, em, text);
  const float x = rect.x0 + (rect.width() - size.x) * align_x;
  const float y = rect.y0 + (rect.height() - size.y) * align_y;
  text_at(face, em, x, y, color, text);
  return {x, y, x + size.x, y + size.y};
}

Rect text_fit(Face face, float em, const Rect& rect, Color color, std::string_view text, float align_x) {
  return text_in(face, em, rect, color, shortened(face, em, text, rect.width()), align_x);
}

float paragraph(Face face, float em, float line, const Rect& rect, Color color, std::string_view text, bool draw) {
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
    if (draw) text_at(face, em, rect.x0, y + (step - size) * 0.5f, color, {at, static_cast<std::size_t>(stop - at)});
    y += step;
    at = stop;
    if (at < end && *at == '\n') ++at;
    while (at < end && *at == ' ') ++at;
  }
  return y;
}

}  // namespace headroom::app::window
