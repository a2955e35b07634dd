// Divides the frame among the header and the rows of panels.
#include "app/paint/layout/layout.h"

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

#include "app/paint/layout/plot_parts.h"
#include "app/paint/layout/sheet.h"

namespace headroom::app::paint {
namespace {

// The alternative text: the figure's source, then the main numbers of each panel.
std::string description_of(const lessons::FigureData& figure) {
  if (!figure.head.empty_reason.empty()) return figure.head.empty_reason;
  std::string text = figure.head.provenance_line + ".";
  if (!figure.head.caption.empty()) text += " " + figure.head.caption;
  for (const lessons::Panel& panel : figure.panels)
    for (const std::string& sentence : std::visit([](const auto& kind) { return kind.sentences(); }, panel))
      if (!sentence.empty()) text += " " + sentence + ".";
  return text;
}

// Width of the column of live tensors and levels; 0 if they do not fit next to the timeline.
float side_width(const Sheet& sheet, const lessons::Timeline& timeline, float room) {
  const Frame& frame = sheet.frame();
  const bool wanted = (frame.parts.alive && timeline.alive) || (frame.parts.levels && !timeline.levels.empty());
  if (!wanted) return 0;
  if (!frame.parts.plot) return room;
  const float width =
      frame.compact ? sheet.px(212) : std::clamp(sheet.snap(room * 0.25f), sheet.px(212), sheet.px(292));
  return room - width >= sheet.px(260) ? width : 0;
}

// Panels that share a row: adjacent charts or maps, or a timeline and its lanes.
using Row = std::span<const lessons::Panel>;

bool goes_beside(const lessons::Panel& panel) {
  return std::holds_alternative<lessons::Chart>(panel) || std::holds_alternative<lessons::HeatMap>(panel);
}

std::vector<Row> rows_of(Row panels) {
  std::vector<Row> rows;
  while (!panels.empty()) {
    std::size_t count = 1;
    if (panels.size() > 1 && std::holds_alternative<lessons::Timeline>(panels[0]) &&
        std::holds_alternative<lessons::Lanes>(panels[1]))
      count = 2;
    while (count < panels.size() && goes_beside(panels.front()) && panels[count].index() == panels.front().index())
      ++count;
    rows.push_back(panels.first(count));
    panels = panels.subspan(count);
  }
  return rows;
}

constexpr float kBetweenRows = 16;  // px at scale 1

float weight_of(const Row& row) { return std::holds_alternative<lessons::Chart>(row.front()) ? 0.45f : 0.55f; }

constexpr float kLeastChart = 110;  // px at scale 1, axes and names included
constexpr float kReadable = 150;    // px at scale 1, for a readable plot

// Height of the upper of two rows. A table below a table gets what it can fill. A single table shows all its rows, without spare space, if the
// other row stays readable. A diagram above the table first gets what it can fill, and lanes what their names need.
// `fair`: the upper height by weight.
float upper_height(const Sheet& sheet, const std::vector<Row>& rows, float width, float height, float fair) {
  const auto* upper = std::get_if<lessons::Table>(&rows[0].front());
  const auto* lower = std::get_if<lessons::Table>(&rows[1].front());
  if (upper != nullptr && lower != nullptr)
    return std::max(fair, height - sheet.px(kBetweenRows) - heights_of(sheet, *lower).most);
  if ((upper == nullptr) == (lower == nullptr)) return fair;
  const float both = height - sheet.px(kBetweenRows), share = upper != nullptr ? fair : both - fair;
  const Heights heights = heights_of(sheet, upper != nullptr ? *upper : *lower);
  const float most = std::max(share, both - sheet.px(kReadable));
  float table = std::min(std::clamp(share, heights.least, heights.most), most);
  if (const auto* diagram = std::get_if<lessons::Diagram>(&rows[0].front()))
    table = std::min(table, std::max(heights.least, both - most_height(sheet, *diagram, width)));
  if (const auto* lanes = std::get_if<lessons::Lanes>(&rows[0].front()))
    table = std::min(table, std::max(heights.least, both - readable_height(sheet, *lanes)));
  return upper != nullptr ? table : both - table;
}

// Height of lanes above charts: at least what their names need, if that leaves room for a plot. If nothing does, they get
// all but the line that names the charts. `fair`: the height by weight.
float height_above_charts(const Sheet& sheet, const lessons::Lanes& lanes, float height, float fair) {
  const float both = height - sheet.px(kBetweenRows), most = both - sheet.px(kLeastChart);
  if (most < fair) return both - sheet.height(kLabelType);
  return std::max(fair, std::min(readable_height(sheet, lanes), most));
}

// A flat diagram leaves the height that it cannot fill to the other rows.
float row_height(const Sheet& sheet, const std::vector<Row>& rows, const Row& row, Rect area, float fair) {
  const auto* lanes = std::get_if<lessons::Lanes>(&row.front());
  if (lanes != nullptr && rows.size() == 2 && std::holds_alternative<lessons::Chart>(rows[1].front()))
    return height_above_charts(sheet, *lanes, area.height(), fair);
  const float height = rows.size() == 2 ? upper_height(sheet, rows, area.width(), area.height(), fair) : fair;
  const auto* diagram = std::get_if<lessons::Diagram>(&row.front());
  return diagram == nullptr ? height : std::min(height, most_height(sheet, *diagram, area.width()));
}

std::vector<std::string> titles_of(const Row& charts) {
  std::vector<std::string> titles;
  for (const lessons::Chart* chart : lessons::panels_of<lessons::Chart>(charts)) titles.push_back(name_of(*chart));
  return titles;
}

// The shown row for each row of the answered figure; an empty one for a row that comes with the answer. Empty if the
// figures are not alike.
std::vector<Row> shown_in(const std::vector<Row>& whole, const std::vector<Row>& shown) {
  std::vector<Row> rows;
  auto next = shown.begin();
  for (const Row& row : whole)
    rows.push_back(next != shown.end() && next->front().index() == row.front().index() ? *next++ : Row());
  if (next != shown.end()) rows.clear();
  return rows;
}

PlotPanels plot_of(const Row& row) {
  return {std::get<lessons::Timeline>(row[0]), row.size() > 1 ? &std::get<lessons::Lanes>(row[1]) : nullptr};
}

struct LayOutRow {
  Sheet& sheet;
  const lessons::FigureHead& head;
  Row row, whole;
  Rect area;

  void operator()(const lessons::Timeline& timeline) const {
    Rect plot = area;
    if (const float side = side_width(sheet, timeline, area.width()); side > 0) {
      lay_out_side(sheet, timeline, {area.x1 - side, area.y0, area.x1, area.y1});
      plot.x1 -= side + sheet.px(sheet.frame().compact ? 16 : 24);
    }
    if (!sheet.frame().parts.plot) return;
    lay_out_plot(sheet, head, plot_of(row), plot_of(whole), plot);
  }
  void operator()(const lessons::Lanes& panel) const {
    lay_out_lanes(sheet, panel, std::get<lessons::Lanes>(whole.front()), area);
  }
  void operator()(const lessons::Rungs& panel) const {
    lay_out_rungs(sheet, head, panel, std::get<lessons::Rungs>(whole.front()), area);
  }
  void operator()(const lessons::Chart&) const {
    lay_out_charts(sheet, head, lessons::panels_of<lessons::Chart>(row), lessons::panels_of<lessons::Chart>(whole),
                   area);
  }
  void operator()(const lessons::HeatMap&) const {
    lay_out_maps(sheet, lessons::panels_of<lessons::HeatMap>(row), whole.size(), area);
  }
  template <class Kind>
  void operator()(const Kind& panel) const {
    lay_out_panel(sheet, panel, area);
  }
};

}  // namespace

void lay_out_empty(Sheet& sheet, const std::string& why, const Rect& area) {
  sheet.inside(Layer::kGround, area, sheet.palette().control, sheet.line_px(1), sheet.px(8), {sheet.px(4)});
  sheet.text_cut(Layer::kLabels, {Face::kRegular, 13}, sheet.palette().text2, why, area.center_x(), area.center_y(),
                 area.width() - sheet.px(24), Anchor::kMiddle);
}

Scene layout(const lessons::FigureData& figure, const Frame& frame) {
  Scene scene;
  scene.width = frame.width;
  scene.height = frame.height;
  scene.ground = frame.palette->card;
  scene.title = figure.head.title;
  scene.description = description_of(figure);
  Sheet sheet(scene, frame);
  // Without a header, the window's card provides the margins.
  const float margin = frame.parts.header ? sheet.px(frame.compact ? 12 : 20) : 0;
  Rect area{margin, margin, frame.width - margin, frame.height - margin};
  if (frame.parts.header) area.y0 += lay_out_header(sheet, figure.head, area);
  if (!figure.head.empty_reason.empty()) {
    lay_out_empty(sheet, figure.head.empty_reason, area);
    return scene;
  }
  std::vector<Row> rows = rows_of(figure.panels), shown = rows;
  if (frame.answered != nullptr) {
    std::vector<Row> whole = rows_of(frame.answered->panels);
    if (std::vector<Row> now = shown_in(whole, shown); !now.empty()) {
      shown = std::move(now);
      rows = std::move(whole);
    }
  }
  float weights = 0;
  for (const Row& row : rows) weights += weight_of(row);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    Rect part = area;
    const float fair = area.height() * weight_of(row) / weights;
    if (&row != &rows.back()) part.y1 = area.y0 + row_height(sheet, rows, row, area, fair);
    weights -= weight_of(row);
    const bool chart = std::holds_alternative<lessons::Chart>(row.front());
    const bool room = !chart || rows.size() == 1 || part.height() >= sheet.px(kLeastChart);
    const bool wanted = frame.parts.plot || std::holds_alternative<lessons::Timeline>(row.front());
    if (wanted && shown[i].empty())
      lay_out_empty(sheet, std::string(lessons::kPartOfAnswer), part);
    else if (wanted && room)
      std::visit(LayOutRow{sheet, figure.head, shown[i], row, part}, shown[i].front());
    else if (wanted)  // too low for a plot
      lay_out_more(sheet, Layer::kAxes, {"chart", titles_of(row)}, part.x0, part.center_y());
    area.y0 = part.y1 + sheet.px(kBetweenRows);
  }
  return scene;
}

}  // namespace headroom::app::paint
