#include "app/paint/layout/sheet.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::app::paint {

float Sheet::snap(float v) const { return frame_.whole_pixels ? std::round(v) : v; }

float Sheet::line_px(float design) const {
  return frame_.whole_pixels ? std::max(1.0f, std::round(design * frame_.scale)) : design * frame_.scale;
}

std::string Sheet::shortened(Type type, std::string text, float width_limit) const {
  if (width(type, text) <= width_limit) return text;
  while (!text.empty()) {
    // Removes one UTF-8 character.
    do {
      const auto last = static_cast<unsigned char>(text.back());
      text.pop_back();
      if ((last & 0xC0) != 0x80) break;
    } while (!text.empty());
    while (!text.empty() && (text.back() == ' ' || text.back() == ',')) text.pop_back();
    if (width(type, text + "…") <= width_limit) break;
  }
  return text.empty() ? text : text + "…";
}

void Sheet::fill(Layer layer, Rect rect, Color color, float radius) {
  if (rect.width() > 0 && rect.height() > 0) add(layer, Fill{rect, color, radius});
}

void Sheet::outline(Layer layer, const Rect& rect, Color color, float width, float radius, Dash dash) {
  add(layer,
      Outline{.rect = rect, .color = color, .width = width, .radius = radius, .dash = dash.dash, .gap = dash.gap});
}

void Sheet::inside(Layer layer, const Rect& rect, Color color, float width, float radius, Dash dash) {
  outline(layer, rect.inset(width * 0.5f), color, width, radius, dash);
}

void Sheet::line(Layer layer, std::vector<Point> points, Color color, float width, Dash dash) {
  add(layer, Polyline{.points = std::move(points), .color = color, .width = width, .dash = dash.dash, .gap = dash.gap});
}

void Sheet::horizontal(Layer layer, float x0, float x1, float y, Color color, float width) {
  fill(layer, {x0, y, x1, y + width}, color);
}

void Sheet::vertical(Layer layer, float x, float y0, float y1, Color color, float width) {
  fill(layer, {x, y0, x + width, y1}, color);
}

Rect Sheet::text(Layer layer, Type type, Color color, std::string text, float x, float top, Anchor anchor) {
  const float w = width(type, text);
  const float left = anchor == Anchor::kStart ? x : anchor == Anchor::kMiddle ? x - w * 0.5f : x - w;
  const Rect box{left, top, left + w, top + height(type)};
  add(layer, Text{.at = {x, snap(top + em(type) * ascent_of(type.face))},
                  .text = std::move(text),
                  .face = type.face,
                  .em = em(type),
                  .color = color,
                  .anchor = anchor,
                  .box = box});
  return box;
}

Rect Sheet::text_mid(Layer layer, Type type, Color color, std::string words, float x, float middle, Anchor anchor) {
  return text(layer, type, color, std::move(words), x, middle - height(type) * 0.5f, anchor);
}

Rect Sheet::text_cut(Layer layer, Type type, Color color, std::string words, float x, float middle, float room,
                     Anchor anchor) {
  const std::string shown = shortened(type, words, room);
  if (shown.empty()) return {x, middle, x, middle};
  const Rect box = text_mid(layer, type, color, shown, x, middle, anchor);
  if (shown != words) scene_.hits.push_back({box, std::nullopt, std::move(words)});
  return box;
}

void Sheet::danger(Layer layer, const Rect& rect) {
  fill(layer, rect, faded(palette().danger, palette().opacity.danger_ground));
  hatch(layer, {rect}, faded(palette().danger, palette().opacity.danger_hatch), kDangerHatch);
}

void Sheet::hatch(Layer layer, const std::vector<Rect>& rects, Color color, const HatchRule& rule) {
  if (rects.empty()) return;
  const float step = rule.step * frame_.scale;
  Segments lines{.pieces = {}, .color = faded(color, rule.opacity), .width = rule.width * frame_.scale};
  float top = rects.front().y0, bottom = rects.front().y1;
  for (const Rect& rect : rects) {
    top = std::min(top, rect.y0);
    bottom = std::max(bottom, rect.y1);
  }
  const float first = std::ceil((rects.front().x0 + top) / step), last = std::floor((rects.back().x1 + bottom) / step);
  for (float k = first; k <= last; ++k) {
    const float sum = k * step;  // the line x + y = sum
    auto rect =
        std::lower_bound(rects.begin(), rects.end(), sum - bottom, [](const Rect& r, float x) { return r.x1 < x; });
    bool open = false;  // the last piece may continue in the next rectangle
    for (; rect != rects.end() && rect->x0 <= sum - top; ++rect) {
      const float from = std::max(rect->x0, sum - rect->y1), to = std::min(rect->x1, sum - rect->y0);
      if (from >= to) {
        open = false;
        continue;
      }
      if (open && from - lines.pieces.back().to.x < 0.01f) {
        lines.pieces.back().to = {to, sum - to};
      } else {
        lines.pieces.push_back({{from, sum - from}, {to, sum - to}});
      }
      open = true;
    }
  }
  if (!lines.pieces.empty()) add(layer, std::move(lines));
}

namespace {

constexpr Type kMoreType{Face::kRegular, 12};

std::string more_words(std::string_view what, std::size_t count) {
  std::string words = fmt::format("{} more {}", count, what);
  if (count == 1) return words;
  if (!words.ends_with('y')) return words + "s";
  words.pop_back();
  return words + "ies";
}

}  // namespace

float more_width(const Sheet& sheet, std::string_view what, std::size_t count) {
  return sheet.width(kMoreType, more_words(what, count));
}

Rect lay_out_more(Sheet& sheet, Layer layer, const LeftOut& left_out, float x, float middle, Anchor anchor) {
  if (left_out.count == 0) return {x, middle, x, middle};
  const std::string words = more_words(left_out.what, left_out.count);
  const Rect box = sheet.text_mid(layer, kMoreType, sheet.palette().text2, words, x, middle, anchor);
  sheet.scene().more.push_back({box, left_out.what, left_out.count, left_out.names});
  constexpr std::size_t kMostNames = 24;  // names that fit into a tooltip
  std::string tip;
  for (std::size_t i = 0; i < std::min(kMostNames, left_out.names.size()); ++i)
    tip += (tip.empty() ? "" : "\n") + left_out.names[i];
  if (left_out.names.size() > kMostNames) tip += fmt::format("\nand {} others", left_out.names.size() - kMostNames);
  sheet.scene().hits.push_back({box, std::nullopt, std::move(tip)});
  return box;
}

std::vector<Line> lines_of(std::size_t rows, std::size_t most, std::size_t keep) {
  std::vector<Line> lines;
  if (rows <= most) {
    for (std::size_t i = 0; i < rows; ++i) lines.emplace_back(i);
    return lines;
  }
  for (std::size_t i = 0; i + 2 < most; ++i) lines.emplace_back(i);
  lines.emplace_back();
  if (most > 1) lines.emplace_back(std::max(keep, most - 2));
  return lines;
}

std::string joined(std::string first, std::string_view separator, const std::string& second) {
  if (!first.empty() && !second.empty()) first += separator;
  return std::move(first) + second;
}

namespace {

struct Placed {
  float x = 0;
  int line = 0;
};

// The first `count` entries and the mark for the rest, wrapped into lines.
std::vector<Placed> places_of(const Sheet& sheet, const Legend& legend, std::size_t count, float width) {
  std::vector<Placed> places;
  float x = 0;
  int line = 0;
  const auto place = [&](float entry) {
    if (x > 0 && x + entry > width) {
      x = 0;
      ++line;
    }
    places.push_back({x, line});
    x += entry + sheet.px(18);
  };
  for (std::size_t i = 0; i < count; ++i)
    place(sheet.px(legend.sample_width + 6) + sheet.width(legend.type, legend.entries[i].word));
  const std::size_t left_out = legend.entries.size() - count;
  if (left_out > 0) place(more_width(sheet, "entry", left_out));
  return places;
}

// As many entries as fit.
std::vector<Placed> fitting_places(const Sheet& sheet, const Legend& legend, std::size_t& count, float width,
                                   int most_lines) {
  count = legend.entries.size();
  std::vector<Placed> places = places_of(sheet, legend, count, width);
  while (count > 0 && places.back().line >= std::max(1, most_lines)) places = places_of(sheet, legend, --count, width);
  return places;
}

float line_of(const Sheet& sheet, const Legend& legend) { return sheet.snap(sheet.height(legend.type) + sheet.px(6)); }

}  // namespace

float legend_height(const Sheet& sheet, const Legend& legend, float width, int most_lines) {
  if (legend.entries.empty()) return 0;
  std::size_t count = 0;
  const std::vector<Placed> places = fitting_places(sheet, legend, count, width, most_lines);
  return line_of(sheet, legend) * static_cast<float>(places.back().line + 1);
}

float lay_out_legend(Sheet& sheet, const Legend& legend, Rect area, int most_lines) {
  if (legend.entries.empty()) return 0;
  const float line = line_of(sheet, legend);
  std::size_t count = 0;
  const std::vector<Placed> places = fitting_places(sheet, legend, count, area.width(), most_lines);
  const auto middle = [&](const Placed& place) { return area.y0 + line * (static_cast<float>(place.line) + 0.5f); };
  for (std::size_t i = 0; i < count; ++i) {
    const float x = area.x0 + places[i].x, half = sheet.px(legend.sample_height) * 0.5f, y = middle(places[i]);
    legend.entries[i].draw(
        {sheet.snap(x), sheet.snap(y - half), sheet.snap(x + sheet.px(legend.sample_width)), sheet.snap(y + half)});
    sheet.text_mid(legend.layer, legend.type, sheet.palette().text2, legend.entries[i].word,
                   x + sheet.px(legend.sample_width + 6), y);
  }
  std::vector<std::string> left_out;
  for (std::size_t i = count; i < legend.entries.size(); ++i) left_out.push_back(legend.entries[i].word);
  lay_out_more(sheet, legend.layer, {"entry", left_out}, area.x0 + places.back().x, middle(places.back()));
  return line * static_cast<float>(places.back().line + 1);
}

}  // namespace headroom::app::paint
