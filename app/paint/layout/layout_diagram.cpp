// Boxes colored by content and drawn by state, arrows between them, and a legend. Diagrams stretch to their rectangle,
// at most 1.5 times more in one direction than in the other.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {
namespace {

using lessons::BoxState;
using lessons::Diagram;
using lessons::DiagramArrow;
using lessons::DiagramBox;

constexpr float kMostStretch = 1.5f;
constexpr float kApart = 0.85f;  // distance of lines over their height: labels need no room for accents

// The point where the line from the center towards `to` leaves the rectangle.
Point edge_towards(const Rect& rect, Point to) {
  const float dx = to.x - rect.center_x(), dy = to.y - rect.center_y();
  const float across = dx == 0 ? HUGE_VALF : rect.width() * 0.5f / std::abs(dx);
  const float down = dy == 0 ? HUGE_VALF : rect.height() * 0.5f / std::abs(dy);
  const float share = std::min({across, down, 1.0f});
  return {rect.center_x() + dx * share, rect.center_y() + dy * share};
}

// Splits a label at the blank that minimizes the wider part. Without a blank the second part is empty.
std::pair<std::string, std::string> in_two(const Sheet& sheet, const std::string& label) {
  std::pair<std::string, std::string> best{label, ""};
  float least = HUGE_VALF;
  for (std::size_t at = label.find(' '); at != std::string::npos; at = label.find(' ', at + 1)) {
    const std::string first = label.substr(0, at), second = label.substr(at + 1);
    const float wider = std::max(sheet.width(kStrongType, first), sheet.width(kStrongType, second));
    if (wider >= least) continue;
    least = wider;
    best = {first, second};
  }
  return best;
}

float room_of(const Sheet& sheet, float width) { return width - sheet.px(4); }

// Largest vertical px per unit. Boxes are stretched by at most kMostStretch, or further if a label needs a second line.
float most_down(const Sheet& sheet, const Diagram& diagram, float across) {
  constexpr float kTwoLines = 2.2f;
  float most = across * kMostStretch;
  for (const DiagramBox& box : diagram.boxes)
    if (sheet.width(kStrongType, box.label) > room_of(sheet, static_cast<float>(box.width) * across))
      most = std::max(most, kTwoLines * sheet.height(kStrongType) / static_cast<float>(box.height));
  return most;
}

class DiagramLayout {
 public:
  DiagramLayout(Sheet& sheet, const Diagram& diagram, Rect area)
      : sheet_(sheet), palette_(sheet.palette()), diagram_(diagram), area_(area) {}

  void draw() {
    head();
    fit();
    if (!without_name().empty()) {  // room for the mark
      const float line = sheet_.px(22);
      area_.y1 -= line;
      fit();
      lay_out_more(sheet_, Layer::kAxes, {"name", without_name()}, area_.x0, area_.y1 + line * 0.5f);
    }
    for (const DiagramArrow& each : diagram_.arrows) arrow(each);
    for (const DiagramBox& each : diagram_.boxes) box(each);
  }

 private:
  void head() {
    const float line = sheet_.px(22);
    if (!diagram_.title.empty()) {
      sheet_.text_cut(Layer::kAxes, kStrongType, palette_.text, diagram_.title, area_.x0, area_.y0 + line * 0.5f,
                      area_.width());
      area_.y0 += line;
    }
    area_.y0 += legend();
  }

  // Returns the height used.
  float legend() {
    Legend legend{.layer = Layer::kAxes, .type = kLabelType, .sample_width = 14, .sample_height = 14};
    for (const BoxState state : {BoxState::kAlive, BoxState::kRecomputed, BoxState::kFreed, BoxState::kNotYet,
                                 BoxState::kSame, BoxState::kChanged}) {
      const auto found = std::find_if(diagram_.boxes.begin(), diagram_.boxes.end(),
                                      [=](const DiagramBox& each) { return each.state == state; });
      if (found == diagram_.boxes.end()) continue;
      legend.entries.push_back(
          {std::string(lessons::label_of(state)), [this, found](const Rect& sample) { ground(sample, *found, 1); }});
    }
    const float height = lay_out_legend(sheet_, legend, area_, 1);
    return height > 0 ? height + sheet_.px(4) : 0;
  }

  void fit() {
    scale_x_ = area_.width() / static_cast<float>(diagram_.width);
    scale_y_ = area_.height() / static_cast<float>(diagram_.height);
    scale_x_ = std::min(scale_x_, scale_y_ * kMostStretch);
    scale_y_ = std::min(scale_y_, most_down(sheet_, diagram_, scale_x_));
    left_ = area_.x0 + (area_.width() - scale_x_ * static_cast<float>(diagram_.width)) * 0.5f;
    top_ = area_.y0;
  }

  // Names without room; a shortened name counts as shown.
  std::vector<std::string> without_name() const {
    std::vector<std::string> names;
    for (const DiagramBox& box : diagram_.boxes)
      if (!box.label.empty() && lines_in(box, rect_of(box)).empty()) names.push_back(box.label);
    return names;
  }

  // The name on one or two lines, else shortened; empty if nothing fits.
  std::vector<std::string> lines_in(const DiagramBox& box, const Rect& rect) const {
    const float line = sheet_.height(kStrongType), room = room_of(sheet_, rect.width());
    if (rect.height() < line) return {};
    if (sheet_.width(kStrongType, box.label) <= room) return {box.label};
    const auto [first, second] = in_two(sheet_, box.label);
    const bool two = !second.empty() && rect.height() >= 2 * kApart * line;
    std::vector<std::string> lines{sheet_.shortened(kStrongType, two ? first : box.label, room)};
    if (two) lines.push_back(sheet_.shortened(kStrongType, second, room));
    if (std::ranges::find(lines, "") != lines.end()) return {};
    return lines;
  }

  float x_px(double x) const { return left_ + static_cast<float>(x) * scale_x_; }
  float y_px(double y) const { return top_ + static_cast<float>(y) * scale_y_; }
  Rect rect_of(const DiagramBox& box) const {
    return {sheet_.snap(x_px(box.x)), sheet_.snap(y_px(box.y)), sheet_.snap(x_px(box.x + box.width)),
            sheet_.snap(y_px(box.y + box.height))};
  }

  void arrow(const DiagramArrow& arrow) {
    const Rect from = rect_of(diagram_.boxes[arrow.from]), to = rect_of(diagram_.boxes[arrow.to]);
    const Point begin = edge_towards(from, {to.center_x(), to.center_y()});
    const Point end = edge_towards(to, {from.center_x(), from.center_y()});
    const Color color = arrow.active ? palette_.ink : palette_.control;
    const float width = sheet_.line_px(arrow.active ? 2 : 1), dash = arrow.dashed ? sheet_.px(4) : 0;
    const float length = std::hypot(end.x - begin.x, end.y - begin.y), tip = sheet_.px(6);
    if (length < tip) return;
    sheet_.line(Layer::kLines, {begin, end}, color, width, {dash});
    const float x = (end.x - begin.x) / length * tip, y = (end.y - begin.y) / length * tip;
    const Point left{end.x - x - y * 0.6f, end.y - y + x * 0.6f}, right{end.x - x + y * 0.6f, end.y - y - x * 0.6f};
    sheet_.line(Layer::kLines, {left, end, right}, color, width);
  }

  void outline(const Rect& rect, float outside, Color color, float width, float dash) {
    sheet_.outline(Layer::kBars, rect.inset(-outside), color, sheet_.line_px(width), sheet_.px(2), {dash});
  }

  // Draws the box without its text.
  void ground(const Rect& rect, const DiagramBox& box, double filled) {
    const float half = sheet_.line_px(1) * 0.5f;
    switch (box.state) {
      case BoxState::kPlain:
        return;
      case BoxState::kNotYet:
        return outline(rect, -half, palette_.control, 1, sheet_.px(3));
      case BoxState::kFreed:
      case BoxState::kSame:
      case BoxState::kZero:
        return outline(rect, -half, palette_.control, 1, 0);
      case BoxState::kChanged:
        sheet_.fill(Layer::kBars, rect, palette_.phase[3], sheet_.px(2));
        return outline(rect, -half, palette_.text, 1, 0);
      case BoxState::kOne:
        return sheet_.fill(Layer::kBars, rect, palette_.ink, sheet_.px(2));
      case BoxState::kAlive:
      case BoxState::kRecomputed:
        break;
    }
    const Rect part{rect.x0, rect.y0, rect.x1, sheet_.snap(rect.y0 + rect.height() * static_cast<float>(filled))};
    lay_out_kind(sheet_, part, box.category);
    if (filled < 1) outline(rect, -half, palette_.control, 1, 0);
    if (box.state == BoxState::kRecomputed) outline(rect, sheet_.px(2), palette_.text, 1.5f, sheet_.px(3));
  }

  void box(const DiagramBox& box) {
    const Rect rect = rect_of(box);
    ground(rect, box, box.filled);
    const bool close = box.state == BoxState::kSame || box.state == BoxState::kChanged;  // these boxes touch
    if (box.marked) outline(rect, close ? -sheet_.line_px(1) : sheet_.px(4), palette_.text, close ? 3 : 1.5f, 0);
    words(box, rect);
    sheet_.scene().hits.push_back({rect, std::nullopt, box.tip, box.action});
  }

  void words(const DiagramBox& box, const Rect& rect) {
    const bool alive = (box.state == BoxState::kAlive || box.state == BoxState::kRecomputed) && box.filled >= 0.5;
    const bool quiet = box.state == BoxState::kFreed || box.state == BoxState::kNotYet;
    const Color color = alive                         ? palette_.of(box.category).on_fill
                        : box.state == BoxState::kOne ? palette_.on_ink
                        : quiet                       ? palette_.text3
                                                      : palette_.text;
    const float line = sheet_.height(kStrongType), room = room_of(sheet_, rect.width());
    const std::vector<std::string> lines = box.label.empty() ? std::vector<std::string>{} : lines_in(box, rect);
    if (lines.empty()) return;
    const bool noted = lines.size() == 1 && lines.front() == box.label && !box.note.empty() &&
                       rect.height() >= 2.2f * line && sheet_.width(kLabelType, box.note) <= room;
    const float step = lines.size() > 1 ? line * kApart : 0;
    float middle = rect.center_y() - (noted ? line * 0.5f : step * 0.5f);
    for (const std::string& part : lines) {
      sheet_.text_mid(Layer::kLabels, kStrongType, color, part, rect.center_x(), middle, Anchor::kMiddle);
      middle += step;
    }
    if (noted)
      sheet_.text_mid(Layer::kLabels, kLabelType, color, box.note, rect.center_x(), middle + line, Anchor::kMiddle);
  }

  Sheet& sheet_;
  const Palette& palette_;
  const Diagram& diagram_;
  Rect area_;
  float scale_x_ = 1, scale_y_ = 1, left_ = 0, top_ = 0;
};

}  // namespace

float most_height(const Sheet& sheet, const Diagram& diagram, float width) {
  constexpr float kHead = 48;  // px, for the title and the legend
  const float down = most_down(sheet, diagram, width / static_cast<float>(diagram.width));
  return sheet.px(kHead) + static_cast<float>(diagram.height) * down;
}

void lay_out_panel(Sheet& sheet, const Diagram& diagram, Rect area) { DiagramLayout(sheet, diagram, area).draw(); }

}  // namespace headroom::app::paint
