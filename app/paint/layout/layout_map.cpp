// Heat maps, side by side: a number per cell on one gray ramp.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {
namespace {

using lessons::HeatMap;

constexpr float kPalest = 0.04f, kDarkest = 0.9f;  // share of the text color mixed into the background
constexpr float kMapLine = 22;                     // px at scale 1
constexpr float kLightWords = 0.5f;                // cells above this share have text in the background color

float place_of(const HeatMap& map, double value) {
  if (!(map.high > map.low)) return 0;
  return static_cast<float>(std::clamp((value - map.low) / (map.high - map.low), 0.0, 1.0));
}

// Needed because the palest cells differ little from the background.
void lay_out_edge(Sheet& sheet, const Rect& rect) {
  sheet.outline(Layer::kBars, rect, sheet.palette().control, sheet.line_px(1));
}

// The ramp and the meaning of its ends.
void lay_out_ramp(Sheet& sheet, const HeatMap& map, Rect line) {
  const Palette& palette = sheet.palette();
  constexpr int kParts = 12;
  const Rect low = sheet.text_mid(Layer::kAxes, kLabelType, palette.text2, map.low_text, line.x0, line.center_y());
  const float width = std::min(sheet.px(120), line.width() * 0.3f), from = low.x1 + sheet.px(8);
  for (int i = 0; i < kParts; ++i) {
    const float x0 = from + width * static_cast<float>(i) / kParts,
                x1 = from + width * static_cast<float>(i + 1) / kParts;
    const float share = kPalest + (kDarkest - kPalest) * static_cast<float>(i) / (kParts - 1);
    sheet.fill(Layer::kBars,
               {sheet.snap(x0), line.center_y() - sheet.px(5), sheet.snap(x1), line.center_y() + sheet.px(5)},
               mixed(palette.well, palette.text, share));
  }
  lay_out_edge(sheet, {from, line.center_y() - sheet.px(5), from + width, line.center_y() + sheet.px(5)});
  sheet.text_mid(Layer::kAxes, kLabelType, palette.text2, map.high_text, from + width + sheet.px(8), line.center_y());
}

// A cell is pale if its settings fit, dashed if that is too close to tell, else hatched.
void lay_out_state(Sheet& sheet, Rect cell, predict::Verdict state) {
  const Palette& palette = sheet.palette();
  const float line = sheet.line_px(1);
  switch (state) {
    case predict::Verdict::kFits:
      sheet.fill(Layer::kBars, cell, palette.state.selected);
      return lay_out_edge(sheet, cell.inset(line * 0.5f));
    case predict::Verdict::kTooClose:
      return sheet.inside(Layer::kBars, cell, palette.control, line, 0, {sheet.px(3)});
    case predict::Verdict::kDoesNotFit:
      return sheet.danger(Layer::kBars, cell);
  }
}

// Replaces the ramp: draws a sample per state and the meaning of the numbers.
void lay_out_states(Sheet& sheet, const HeatMap& map, Rect line) {
  const Palette& palette = sheet.palette();
  const float size = sheet.px(14), top = sheet.snap(line.center_y() - size * 0.5f);
  float x = line.x0;
  for (const auto state : {predict::Verdict::kFits, predict::Verdict::kTooClose, predict::Verdict::kDoesNotFit}) {
    lay_out_state(sheet, {sheet.snap(x), top, sheet.snap(x + size), top + size}, state);
    x = sheet
            .text_mid(Layer::kAxes, kLabelType, palette.text2, std::string(predict::label_of(state)),
                      x + size + sheet.px(6), line.center_y())
            .x1 +
        sheet.px(18);
  }
  sheet.text_cut(Layer::kAxes, kLabelType, palette.text2, map.high_text, x, line.center_y(), line.x1 - x);
}

// "1,024", "12", "−3.4"
std::string cell_text(double value) {
  const double size = std::abs(value);
  return (value < 0 ? "−" : "") + (size < 10 ? fmt::format("{:.1f}", size) : record::format_count(std::llround(size)));
}

float widest_number(const Sheet& sheet, const HeatMap& map) {
  float widest = 0;
  for (const auto& row : map.cells)
    for (const double value : row)
      if (std::isfinite(value)) widest = std::max(widest, sheet.width(kLabelType, cell_text(value)));
  return widest;
}

// Draws the border around cells that fit, and outlines the current settings' cell.
void lay_out_border(Sheet& sheet, const HeatMap& map, Rect area, float width, float height) {
  const auto x = [&](std::size_t c) { return sheet.snap(area.x0 + width * static_cast<float>(c)); };
  const auto y = [&](std::size_t r) { return sheet.snap(area.y0 + height * static_cast<float>(r)); };
  const auto fits = [&](std::size_t r, std::size_t c) { return map.states[r][c] == predict::Verdict::kFits; };
  const float line = sheet.line_px(2);
  for (std::size_t r = 0; r < map.states.size(); ++r)
    for (std::size_t c = 0; c < map.states[r].size(); ++c) {
      if (c > 0 && fits(r, c) != fits(r, c - 1))
        sheet.vertical(Layer::kLines, x(c) - line * 0.5f, y(r) - line * 0.5f, y(r + 1) + line * 0.5f,
                       sheet.palette().danger, line);
      if (r > 0 && fits(r, c) != fits(r - 1, c))
        sheet.horizontal(Layer::kLines, x(c) - line * 0.5f, x(c + 1) + line * 0.5f, y(r) - line * 0.5f,
                         sheet.palette().danger, line);
    }
  if (!map.chosen) return;
  const auto [r, c] = *map.chosen;
  const bool dark = map.states.empty() && place_of(map, map.cells[r][c]) > kLightWords;
  const Rect cell{x(c) + line, y(r) + line, x(c + 1) - line, y(r + 1) - line};
  sheet.outline(Layer::kLines, cell, dark ? sheet.palette().well : sheet.palette().ink, line, sheet.px(3));
}

std::string name_in(const std::vector<std::string>& names, std::size_t at) {
  return at < names.size() ? names[at] : std::string();
}

std::size_t columns_of(const HeatMap& map) {
  std::size_t columns = 0;
  for (const auto& row : map.cells) columns = std::max(columns, row.size());
  return columns;
}

// The title, with marks at the line's right end.
void lay_out_head(Sheet& sheet, const HeatMap& map, Rect row, std::vector<LeftOut> marks) {
  for (LeftOut& mark : marks) {
    mark.count = mark.names.size();
    const Rect box = lay_out_more(sheet, Layer::kHeader, mark, row.x1, row.center_y(), Anchor::kEnd);
    if (mark.count > 0) row.x1 = box.x0 - sheet.px(10);
  }
  sheet.text_cut(Layer::kHeader, kStrongType, sheet.palette().text, map.title, row.x0, row.center_y(), row.width());
}

// Names of rows and columns. Returns those without room.
std::vector<std::string> lay_out_names(Sheet& sheet, const HeatMap& map, Rect area) {
  const Palette& palette = sheet.palette();
  std::vector<std::string> left_out;
  const float width = area.width() / static_cast<float>(columns_of(map));
  const float height = area.height() / static_cast<float>(map.cells.size());
  // If rows are low, only some are named, so that names do not touch.
  const auto stride = static_cast<std::size_t>(std::max(1.0f, std::ceil(sheet.height(kLabelType) / height)));
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    if (r % stride == 0)
      sheet.text_mid(Layer::kAxes, kLabelType, palette.text3, map.rows[r], area.x0 - sheet.px(8),
                     area.y0 + height * (static_cast<float>(r) + 0.5f), Anchor::kEnd);
    else
      left_out.push_back(map.rows[r]);
  }
  const auto every = static_cast<std::size_t>(map.named_every);
  float free = 0;  // right end of the last name
  for (std::size_t c = every / 2; c < map.columns.size(); c += every) {
    const float x = area.x0 + width * (static_cast<float>(c) + 0.5f);
    const float half = sheet.width(kLabelType, map.columns[c]) * 0.5f;
    if (x - half < free) {
      left_out.push_back(map.columns[c]);
      continue;
    }
    sheet.text_mid(Layer::kAxes, kLabelType, palette.text3, map.columns[c], x, area.y1 + sheet.px(kMapLine) * 0.5f,
                   Anchor::kMiddle);
    free = x + half + sheet.px(2);
  }
  return left_out;
}

void lay_out_one(Sheet& sheet, const HeatMap& map, Rect area) {
  const Palette& palette = sheet.palette();
  const float line = sheet.px(kMapLine);
  const Rect top = area.cut_top(line), below{area.x0, area.y1 - line, area.x1, area.y1};
  map.states.empty() ? lay_out_ramp(sheet, map, below) : lay_out_states(sheet, map, below);
  area.y1 -= line + sheet.px(4);
  float names = 0;
  for (const std::string& row : map.rows) names = std::max(names, sheet.width(kLabelType, row));
  if (names > 0) area.x0 += names + sheet.px(8);
  if (!map.columns.empty()) area.y1 -= line;
  if (!map.x_name.empty()) {
    area.y1 -= line;
    sheet.text_mid(Layer::kAxes, kLabelType, palette.text2, map.x_name, area.center_x(), area.y1 + line * 1.5f,
                   Anchor::kMiddle);
  }
  const std::size_t columns = columns_of(map);
  if (columns == 0 || map.cells.empty()) return;
  if (area.height() <= 0) return lay_out_head(sheet, map, top, {{"row", map.rows}, {"column", map.columns}});
  const float width = area.width() / static_cast<float>(columns),
              height = area.height() / static_cast<float>(map.cells.size());
  const float gap = width > sheet.px(8) && height > sheet.px(6) ? sheet.line_px(1) : 0;
  LeftOut unsaid{.what = "number", .names = {}};
  // Either all cells show numbers, or none does.
  const bool numbers = map.numbers && widest_number(sheet, map) + sheet.px(4) < width;
  for (std::size_t r = 0; r < map.cells.size(); ++r)
    for (std::size_t c = 0; c < map.cells[r].size(); ++c) {
      const double value = map.cells[r][c];
      const Rect cell{sheet.snap(area.x0 + width * static_cast<float>(c)),
                      sheet.snap(area.y0 + height * static_cast<float>(r)),
                      sheet.snap(area.x0 + width * static_cast<float>(c + 1)) - gap,
                      sheet.snap(area.y0 + height * static_cast<float>(r + 1)) - gap};
      if (!std::isfinite(value)) continue;
      const float place = map.states.empty() ? place_of(map, value) : 0;
      if (map.states.empty())
        sheet.fill(Layer::kBars, cell, mixed(palette.well, palette.text, kPalest + (kDarkest - kPalest) * place));
      else
        lay_out_state(sheet, cell, map.states[r][c]);
      if (r < map.tips.size() && c < map.tips[r].size())
        sheet.scene().hits.push_back({cell, std::nullopt, map.tips[r][c]});
      if (r < map.settings.size() && c < map.settings[r].size())
        sheet.scene().hits.push_back({.rect = cell, .tip = {}, .settings = map.settings[r][c]});
      const std::string number = cell_text(value);
      if (numbers && cell.height() > sheet.px(14))
        sheet.text_mid(Layer::kLabels, kLabelType, place > kLightWords ? palette.well : palette.text, number,
                       cell.center_x(), cell.center_y(), Anchor::kMiddle);
      else if (map.numbers)
        unsaid.names.push_back(joined(joined(name_in(map.rows, r), ", ", name_in(map.columns, c)), ": ", number));
    }
  if (map.states.empty()) lay_out_edge(sheet, area);
  lay_out_border(sheet, map, area, width, height);
  LeftOut unnamed{.what = "name", .names = lay_out_names(sheet, map, area)};
  lay_out_head(sheet, map, top, {std::move(unnamed), std::move(unsaid)});
}

}  // namespace

void lay_out_maps(Sheet& sheet, const std::vector<const HeatMap*>& maps, std::size_t whole, Rect area) {
  const float gap = sheet.px(28);
  const auto count = static_cast<float>(std::max(maps.size(), whole));
  const float width = (area.width() - gap * (count - 1)) / std::max(count, 1.0f);
  for (const HeatMap* map : maps) {
    lay_out_one(sheet, *map, {area.x0, area.y0, area.x0 + width, area.y1});
    area.x0 += width + gap;
  }
  for (std::size_t i = maps.size(); i < whole; ++i, area.x0 += width + gap)
    lay_out_empty(sheet, std::string(lessons::kPartOfAnswer), {area.x0, area.y0, area.x0 + width, area.y1});
}

}  // namespace headroom::app::paint
