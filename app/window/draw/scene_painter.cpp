// Paints a laid-out figure into a draw list.
#include <algorithm>
#include <cmath>
#include <variant>

#include "app/window/draw/draw.h"

namespace headroom::app::window {

namespace {

class ScenePainter {
 public:
  ScenePainter(ImDrawList& list, ImVec2 origin) : list_(list), origin_(origin) {}

  void operator()(const paint::Fill& fill) const {
    list_.AddRectFilled(at(fill.rect.x0, fill.rect.y0), at(fill.rect.x1, fill.rect.y1), as_u32(fill.color),
                        fill.radius);
  }

  void operator()(const paint::Outline& outline) const {
    const float half = outline.width * 0.5f;  // ImGui strokes inside the rectangle
    const paint::Rect& r = outline.rect;
    if (outline.dash <= 0) {
      list_.AddRect(at(r.x0 - half, r.y0 - half), at(r.x1 + half, r.y1 + half), as_u32(outline.color), outline.radius,
                    outline.width);
      return;
    }
    const paint::Point corners[5] = {{r.x0, r.y0}, {r.x1, r.y0}, {r.x1, r.y1}, {r.x0, r.y1}, {r.x0, r.y0}};
    for (int i = 0; i < 4; ++i)
      piece(corners[i], corners[i + 1], as_u32(outline.color), outline.width, outline.dash, outline.gap);
  }

  void operator()(const paint::Columns& columns) const {
    const ImU32 color = as_u32(columns.color);
    for (const paint::Rect& rect : columns.rects)
      list_.AddRectFilled(at(rect.x0, rect.y0), at(rect.x1, rect.y1), color);
  }

  void operator()(const paint::Segments& segments) const {
    for (const auto& [from, to] : segments.pieces) piece(from, to, as_u32(segments.color), segments.width, 0, 0);
  }

  void operator()(const paint::Polyline& line) const {
    float along = 0;  // dashes continue around corners
    for (std::size_t i = 1; i < line.points.size(); ++i)
      if (line.dash > 0 && line.points.size() > 2)
        along = dashes(line.points[i - 1], line.points[i], line, along);
      else
        piece(line.points[i - 1], line.points[i], as_u32(line.color), line.width, line.dash, line.gap);
  }

  void operator()(const paint::Disc& disc) const {
    if (disc.fill.a != 0) list_.AddCircleFilled(at(disc.center.x, disc.center.y), disc.radius, as_u32(disc.fill));
    if (disc.stroke_width > 0)
      list_.AddCircle(at(disc.center.x, disc.center.y), disc.radius, as_u32(disc.stroke), 0, disc.stroke_width);
  }

  void operator()(const paint::Text& text) const {
    if (text.text.empty()) return;
    const float width = text.box.width();
    const float shift = text.anchor == paint::Anchor::kStart    ? 0
                        : text.anchor == paint::Anchor::kMiddle ? width * 0.5f
                                                                : width;
    const ImVec2 corner = at(text.at.x - shift, text.at.y - text.em * paint::ascent_of(text.face));
    list_.AddText(font_of(text.face), device_font_size(text.face, text.em),
                  {std::round(corner.x), std::round(corner.y)}, as_u32(text.color), text.text.data(),
                  text.text.data() + text.text.size());
  }

 private:
  ImVec2 at(float x, float y) const { return {origin_.x + x, origin_.y + y}; }

  // `along`: the pattern's position at `from`. Returns its position at `to`.
  float dashes(paint::Point from, paint::Point to, const paint::Polyline& line, float along) const {
    const float length = std::hypot(to.x - from.x, to.y - from.y), period = line.dash + line.gap;
    for (float t = -along; t < length; t += period) {
      const float a = std::max(t, 0.0f) / length, b = std::min(t + line.dash, length) / length;
      if (b > a)
        list_.AddLine(at(from.x + a * (to.x - from.x), from.y + a * (to.y - from.y)),
                      at(from.x + b * (to.x - from.x), from.y + b * (to.y - from.y)), as_u32(line.color), line.width);
    }
    return std::fmod(along + length, period);
  }

  // Horizontal and vertical pieces are pixel-aligned rectangles: sharp, and cheaper than anti-aliased lines.
  void piece(paint::Point from, paint::Point to, ImU32 color, float width, float dash, float gap) const {
    const bool level = std::abs(from.y - to.y) < 0.01f, upright = std::abs(from.x - to.x) < 0.01f;
    if (!level && !upright) {
      list_.AddLine(at(from.x, from.y), at(to.x, to.y), color, width);
      return;
    }
    const float start = level ? std::min(from.x, to.x) : std::min(from.y, to.y);
    const float end = level ? std::max(from.x, to.x) : std::max(from.y, to.y);
    const float across = std::round((level ? from.y : from.x) - width * 0.5f);
    const float thickness = std::max(1.0f, std::round(width));
    const float step = dash > 0 ? dash + gap : end - start + 1;
    for (float a = start; a < end || a == start; a += step) {
      // Solid pieces extend by half a width to meet at corners.
      const float reach = dash > 0 ? 0 : width * 0.5f;
      const float b = dash > 0 ? std::min(a + dash, end) : end + reach;
      const float low = std::round(a - reach), high = std::max(low + 1, std::round(b));
      if (level)
        list_.AddRectFilled(at(low, across), at(high, across + thickness), color);
      else
        list_.AddRectFilled(at(across, low), at(across + thickness, high), color);
    }
  }

  ImDrawList& list_;
  ImVec2 origin_;
};

}  // namespace

void paint_scene(ImDrawList& list, const paint::Scene& scene, ImVec2 origin) {
  const ScenePainter painter(list, origin);
  for (const paint::Item& item : scene.items) std::visit(painter, item.shape);
}

paint::Frame frame_for(ImVec2 size, bool compact, const paint::Parts& parts) {
  static const AtlasMeasure measure;
  return {.width = size.x,
          .height = size.y,
          .scale = look().scale,
          .palette = &theme(),
          .compact = compact,
          .parts = parts,
          .measure = &measure,
          .lit = {}};
}

}  // namespace headroom::app::window
