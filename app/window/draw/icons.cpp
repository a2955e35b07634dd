// Icons as strokes on a 16 x 16 grid.
#include "app/window/draw/icons.h"

#include <cmath>
#include <initializer_list>
#include <numbers>

#include "app/window/draw/draw.h"

namespace headroom::app::window {

namespace {

constexpr float kPi = std::numbers::pi_v<float>;

class Pen {
 public:
  Pen(float center_x, float center_y, Color color, float size)
      : x_(center_x), y_(center_y), unit_(size * look().scale / 16), color_(as_u32(color)), width_(1.5f * unit_) {}

  void line(std::initializer_list<ImVec2> points, bool closed = false) const {
    for (const ImVec2& point : points) canvas()->PathLineTo(at(point));
    canvas()->PathStroke(color_, width_, closed ? ImDrawFlags_Closed : ImDrawFlags_None);
  }
  void circle(ImVec2 center, float radius) const { canvas()->AddCircle(at(center), radius * unit_, color_, 0, width_); }
  void disc(ImVec2 center, float radius) const { canvas()->AddCircleFilled(at(center), radius * unit_, color_); }
  void box(ImVec2 from, ImVec2 to, float radius) const {
    canvas()->AddRect(at(from), at(to), color_, radius * unit_, width_);
  }
  void block(ImVec2 from, ImVec2 to, float radius) const {
    canvas()->AddRectFilled(at(from), at(to), color_, radius * unit_);
  }
  void triangle(ImVec2 a, ImVec2 b, ImVec2 c) const { canvas()->AddTriangleFilled(at(a), at(b), at(c), color_); }
  void arc(ImVec2 center, float radius, float from, float to) const {
    canvas()->PathArcTo(at(center), radius * unit_, from, to);
    canvas()->PathStroke(color_, width_);
  }
  void half_disc(ImVec2 center, float radius) const {
    canvas()->PathArcTo(at(center), radius * unit_, -kPi / 2, kPi / 2);
    canvas()->PathFillConvex(color_);
  }

 private:
  ImVec2 at(ImVec2 p) const { return {x_ + (p.x - 8) * unit_, y_ + (p.y - 8) * unit_}; }

  float x_, y_, unit_;
  ImU32 color_;
  float width_;
};

void draw_sun(const Pen& pen) {
  pen.circle({8, 8}, 3);
  for (int ray = 0; ray < 8; ++ray) {
    const float angle = static_cast<float>(ray) * kPi / 4, c = std::cos(angle), s = std::sin(angle);
    pen.line({{8 + 5 * c, 8 + 5 * s}, {8 + 6.75f * c, 8 + 6.75f * s}});
  }
}

void draw_chip(const Pen& pen) {
  pen.box({4, 4}, {12, 12}, 1.5f);
  for (const float leg : {6.25f, 9.75f}) {
    pen.line({{leg, 1.75f}, {leg, 4}});
    pen.line({{leg, 12}, {leg, 14.25f}});
    pen.line({{1.75f, leg}, {4, leg}});
    pen.line({{12, leg}, {14.25f, leg}});
  }
}

void draw_lock(const Pen& pen) {
  pen.box({3.5f, 7.25f}, {12.5f, 13.5f}, 1.5f);
  pen.arc({8, 5.75f}, 2.5f, kPi, 2 * kPi);
  pen.line({{5.5f, 5.75f}, {5.5f, 7.5f}});
  pen.line({{10.5f, 5.75f}, {10.5f, 7.5f}});
}

void draw_keys(const Pen& pen) {
  pen.box({1.75f, 4}, {14.25f, 12}, 1.5f);
  pen.line({{5, 9.75f}, {11, 9.75f}});
  for (const float x : {4.5f, 8.0f, 11.5f}) pen.disc({x, 6.75f}, 0.85f);
}

void draw_export(const Pen& pen) {
  pen.line({{8, 9.75f}, {8, 2.5f}});
  pen.line({{5, 5.25f}, {8, 2.25f}, {11, 5.25f}});
  pen.line({{3, 9.5f}, {3, 13.25f}, {13, 13.25f}, {13, 9.5f}});
}

void draw_layers(const Pen& pen) {
  pen.line({{8, 2.5f}, {14, 5.75f}, {8, 9}, {2, 5.75f}}, true);
  pen.line({{2, 9.25f}, {8, 12.5f}, {14, 9.25f}});
}

void draw_book(const Pen& pen) {
  pen.line({{8, 4}, {8, 13}});
  pen.line({{8, 4},
            {6.5f, 3},
            {2.5f, 3},
            {2.5f, 12},
            {6.5f, 12},
            {8, 13},
            {9.5f, 12},
            {13.5f, 12},
            {13.5f, 3},
            {9.5f, 3},
            {8, 4}});
}

}  // namespace

void draw_icon(Icon icon, float center_x, float center_y, Color color, float size) {
  const Pen pen(center_x, center_y, color, size);
  switch (icon) {
    case Icon::kNone:
      return;
    case Icon::kCheck:
      return pen.line({{3.5f, 8.5f}, {6.5f, 11.5f}, {12.5f, 5}});
    case Icon::kChevronRight:
      return pen.line({{6, 3.5f}, {10.5f, 8}, {6, 12.5f}});
    case Icon::kChevronLeft:
      return pen.line({{10, 3.5f}, {5.5f, 8}, {10, 12.5f}});
    case Icon::kChevronDown:
      return pen.line({{4, 6.25f}, {8, 10.25f}, {12, 6.25f}});
    case Icon::kPlay:
      return pen.triangle({5, 3}, {5, 13}, {13, 8});
    case Icon::kPause:
      pen.block({4, 3}, {7, 13}, 1);
      pen.block({9, 3}, {12, 13}, 1);
      break;
    case Icon::kStop:
      return pen.block({4, 4}, {12, 12}, 1.5f);
    case Icon::kLock:
      return draw_lock(pen);
    case Icon::kSun:
      return draw_sun(pen);
    case Icon::kMoon:
      return pen.line({{10.5f, 2.75f},
                       {7.5f, 3.5f},
                       {5.75f, 6},
                       {6, 9.25f},
                       {8.25f, 11.75f},
                       {11.5f, 12.25f},
                       {13, 11.5f},
                       {11, 13.25f},
                       {8, 13.75f},
                       {4.75f, 12.5f},
                       {2.75f, 9.75f},
                       {2.75f, 6.25f},
                       {4.75f, 3.5f},
                       {8, 2.25f}},
                      true);
    case Icon::kContrast:
      pen.circle({8, 8}, 5.75f);
      pen.half_disc({8, 8}, 5.25f);
      break;
    case Icon::kChip:
      return draw_chip(pen);
    case Icon::kFormula:
      return pen.line({{12, 3.5f}, {4, 3.5f}, {8.5f, 8}, {4, 12.5f}, {12, 12.5f}});
    case Icon::kRecorded:
      pen.circle({8, 8}, 5.75f);
      pen.disc({8, 8}, 2.5f);
      break;
    case Icon::kLive:
      pen.disc({8, 8}, 2.5f);
      pen.arc({8, 8}, 5.5f, -0.9f, 0.9f);
      pen.arc({8, 8}, 5.5f, kPi - 0.9f, kPi + 0.9f);
      break;
    case Icon::kPredicted:
      for (int dash = 0; dash < 6; ++dash)
        pen.arc({8, 8}, 5.5f, static_cast<float>(dash) * kPi / 3, static_cast<float>(dash) * kPi / 3 + 0.62f);
      break;
    case Icon::kInfo:
      pen.circle({8, 8}, 5.75f);
      pen.line({{8, 7.5f}, {8, 11}});
      pen.disc({8, 5.25f}, 0.95f);
      break;
    case Icon::kWarning:
      pen.line({{8, 2.5f}, {14, 13}, {2, 13}}, true);
      pen.line({{8, 6.5f}, {8, 9.5f}});
      pen.disc({8, 11.25f}, 0.8f);
      break;
    case Icon::kExport:
      return draw_export(pen);
    case Icon::kKeys:
      return draw_keys(pen);
    case Icon::kLayers:
      return draw_layers(pen);
    case Icon::kBook:
      return draw_book(pen);
    case Icon::kSearch:
      pen.circle({7, 7}, 4.5f);
      pen.line({{10.3f, 10.3f}, {14, 14}});
      break;
    case Icon::kPin:
      pen.line({{5, 2.5f}, {11, 2.5f}});
      pen.line({{6, 2.5f}, {6, 7}, {4, 9.75f}, {12, 9.75f}, {10, 7}, {10, 2.5f}});
      pen.line({{8, 9.75f}, {8, 14}});
      break;
  }
}

}  // namespace headroom::app::window
