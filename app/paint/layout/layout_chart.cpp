// Charts in a grid, with a common legend. One chart may carry the reader's guess.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "app/paint/layout/chart_layout.h"
#include "app/paint/layout/plot_parts.h"

namespace headroom::app::paint {
namespace {

using lessons::Chart;
using lessons::ChartSeries;

// One entry per series of all charts; `at_ends` omits series named at their ends.
Legend legend_of(Sheet& sheet, const std::vector<const Chart*>& charts, bool at_ends) {
  Legend legend{.layer = Layer::kLabels, .type = kMediumType};
  std::set<std::tuple<std::string, bool>> said;
  for (const Chart* chart : charts) {
    const std::vector<Look> looks = looks_of(*chart);
    for (std::size_t s = 0; s < chart->series.size(); ++s) {
      const ChartSeries& series = chart->series[s];
      const std::string& label = series.legend.empty() ? series.label : series.legend;
      if (label.empty() || (at_ends && series.named_at_end)) continue;
      if (!said.insert({label, series.published}).second) continue;
      const bool box = chart->bars || (chart->stacked && !series.over);
      legend.entries.push_back({label, [&sheet, box, look = looks[s]](const Rect& sample) {
                                  if (box) return lay_out_box(sheet, sample, look);
                                  lay_out_mark(sheet, {sample.center_x(), sample.center_y()}, look);
                                }});
    }
  }
  return legend;
}

// Returns the height used, at most a third of the area.
float lay_out_names(Sheet& sheet, const std::vector<const Chart*>& charts, const std::vector<const Chart*>& whole,
                    Rect area, bool at_ends) {
  const int most = static_cast<int>(area.height() / 3 / (sheet.height(kMediumType) + sheet.px(6)));
  const float shown = lay_out_legend(sheet, legend_of(sheet, charts, at_ends), area, most);
  const float height = std::max(shown, legend_height(sheet, legend_of(sheet, whole, at_ends), area.width(), most));
  return height > 0 ? height + sheet.px(4) : 0;
}

// For each chart after the answer, the one shown now, by title or else by place; null for those that come with the
// answer.
std::vector<const Chart*> shown_in(const std::vector<const Chart*>& whole, std::vector<const Chart*> charts) {
  if (charts.size() >= whole.size()) return charts;
  std::vector<const Chart*> shown(whole.size(), nullptr);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto same = std::ranges::find(charts, whole[i]->title, &Chart::title);
    if (same == charts.end() || whole[i]->title.empty()) continue;
    shown[i] = *same;
    charts.erase(same);
  }
  for (const Chart* chart : charts)
    if (const auto free = std::ranges::find(shown, nullptr); free != shown.end()) *free = chart;
  return shown;
}

// The reader's guess over its chart. The pill avoids bars and numbers if possible.
void lay_out_guess(Sheet& sheet, const lessons::FigureHead& head, const PlotMap& map, ChartLayout& chart) {
  const float y = head.guess ? std::clamp(sheet.snap(map.y_px(*head.guess)), map.plot.y0, map.plot.y1) : map.plot.y1;
  if (head.guess) lay_out_guess_line(sheet, {map.plot.x0, y}, {map.plot.x1, y});
  chart.draw_numbers();
  constexpr std::array kShares{0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 0.3f, 0.2f, 0.1f};
  const auto pill_at = [&](float share) {
    return guess_pill(sheet, head, map.y, {map.plot.x0 + map.plot.width() * share, y}, map.plot);
  };
  const auto clear = [&](float share) { return chart.is_clear(pill_at(share).box); };
  const auto* const share = std::find_if(kShares.begin(), kShares.end(), clear);
  const GuessPill pill = pill_at(share == kShares.end() ? kShares.front() : *share);
  draw_pill(sheet, head, pill);
  if (!head.guess_open) return;
  sheet.scene().map = map;  // for dragging
  sheet.scene().guess = pill.box;
}

// Left edge of the lanes above a chart that has their axis; 0 without such lanes.
float left_of_lanes(Sheet& sheet, const lessons::Axis& x) {
  const PlotMap& above = sheet.scene().map;
  const bool same = above.x.unit == x.unit && above.x.low == x.low && above.x.high == x.high;
  return same && x.unit == lessons::AxisUnit::kNanoseconds ? above.plot.x0 : 0;
}

// "21.3 GiB", in the axis's unit.
std::string guess_text(const lessons::Axis& axis, double guess) {
  const ShownUnit unit = lessons::unit_of(axis);
  const int decimals = axis.unit == lessons::AxisUnit::kBytesPerSecond && guess >= 100 * unit.size ? 0 : 1;
  return in_unit(guess, unit, decimals) + " " + std::string(unit.name);
}

}  // namespace

GuessPill guess_pill(const Sheet& sheet, const lessons::FigureHead& head, const lessons::Axis& axis, Point at,
                     const Rect& within) {
  std::string text(kDragToGuess);
  if (head.guess) text = (head.guess_open ? "your guess " : "you said ") + guess_text(axis, *head.guess);
  const float width = sheet.snap(sheet.width(kPeakType, text) + sheet.px(24)), height = sheet.px(28);
  const float x0 = sheet.snap(kept_within(at.x - width * 0.5f, within.x0, within.x1 - width));
  const float y0 = sheet.snap(kept_within(at.y - height * 0.5f, within.y0, within.y1 - height));
  return {{x0, y0, x0 + width, y0 + height}, std::move(text)};
}

void lay_out_guess_line(Sheet& sheet, Point from, Point to) {
  sheet.line(Layer::kMarks, {from, to}, sheet.palette().text, sheet.line_px(2), {sheet.px(7), sheet.px(4)});
}

void draw_pill(Sheet& sheet, const lessons::FigureHead& head, const GuessPill& pill) {
  const Palette& palette = sheet.palette();
  sheet.fill(Layer::kMarks, pill.box, head.guess_open ? palette.ink : palette.well, pill.box.height() * 0.5f);
  sheet.text_mid(Layer::kLabels, kPeakType, head.guess_open ? palette.on_ink : palette.text, pill.text,
                 pill.box.center_x(), pill.box.center_y(), Anchor::kMiddle);
}

namespace {

struct ChartPlace {
  const Chart *shown, *whole;  // null `shown`: it comes with the answer
  Rect rect;
};

void lay_out_chart(Sheet& sheet, const lessons::FigureHead& head, const ChartPlace& place, float left) {
  if (place.shown == nullptr) return lay_out_empty(sheet, std::string(lessons::kPartOfAnswer), place.rect);
  const Chart& data = *place.shown;
  ChartLayout chart(sheet, data, *place.whole, place.rect, data.asked ? head.guess : std::nullopt, left);
  chart.draw();
  if (data.asked && (head.guess || head.guess_open))
    lay_out_guess(sheet, head, {.plot = chart.plot(), .x = data.x, .y = data.y}, chart);
  else
    chart.draw_numbers();
}

int columns_for(const Sheet& sheet, int count, const Rect& area) {
  constexpr float kLowCharts = 150;  // px: three rows lower than this are hard to read
  constexpr float kLowRow = 110;     // px: a row lower than this has no room for a plot
  constexpr float kNarrowest = 160;  // px
  // Prefers narrow charts to low ones.
  const float least = area.height() < sheet.px(kLowCharts) * 3 && count > 6 ? 185.0f : 230.0f;
  const int most = std::max(1, static_cast<int>(area.width() / sheet.px(least)));
  const int wanted = count <= 2 ? count : count <= 4 ? 2 : count <= 6 ? 3 : 4;
  const auto row_height = [&](int of) { return area.height() / static_cast<float>((count + of - 1) / of); };
  int columns = std::min(most, wanted);
  while (columns < wanted && row_height(columns) < sheet.px(kLowRow) &&
         area.width() / static_cast<float>(columns + 1) >= sheet.px(kNarrowest))
    ++columns;
  return columns;
}

}  // namespace

void lay_out_charts(Sheet& sheet, const lessons::FigureHead& head, const std::vector<const Chart*>& charts,
                    const std::vector<const Chart*>& whole, Rect area) {
  constexpr float kLowestRow = 80, kMark = 20;  // px: a lower row shows nothing; the line of the mark
  const std::vector<const Chart*> shown = shown_in(whole, charts);
  const auto count = static_cast<int>(shown.size());
  const float gap = sheet.px(20), between = gap * 0.6f;
  const bool beside =
      count <= 2 && names_ends(sheet, (area.width() - gap * static_cast<float>(count - 1)) / static_cast<float>(count));
  area.y0 += lay_out_names(sheet, charts, whole, area, beside);
  const int columns = columns_for(sheet, count, area);
  const auto fitting = [&] {
    return std::max(1, static_cast<int>((area.height() + between) / (sheet.px(kLowestRow) + between)));
  };
  int rows = (count + columns - 1) / columns;
  if (rows > fitting()) {
    const Rect line = area.cut_bottom(sheet.px(kMark));
    rows = fitting();
    LeftOut mark{.what = "chart", .names = {}};
    for (auto at = static_cast<std::size_t>(rows * columns); at < shown.size(); ++at)
      if (shown[at] != nullptr) mark.names.push_back(name_of(*shown[at]));
    mark.count = mark.names.size();
    lay_out_more(sheet, Layer::kAxes, mark, line.x0, line.center_y());
  }
  const float width = (area.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const float height = (area.height() - between * static_cast<float>(rows - 1)) / static_cast<float>(rows);
  for (int i = 0; i < std::min(count, rows * columns); ++i) {
    const float x0 = area.x0 + static_cast<float>(i % columns) * (width + gap);
    const float y0 = area.y0 + static_cast<float>(i / columns) * (height + between);
    const auto at = static_cast<std::size_t>(i);
    lay_out_chart(sheet, head,
                  {shown[at], at < whole.size() ? whole[at] : shown[at], {x0, y0, x0 + width, y0 + height}},
                  count == 1 && shown[at] != nullptr ? left_of_lanes(sheet, shown[at]->x) : 0);
  }
}

const std::string& name_of(const Chart& chart) { return chart.title.empty() ? chart.y.name : chart.title; }

}  // namespace headroom::app::paint
