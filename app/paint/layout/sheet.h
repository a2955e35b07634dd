// Builds a scene: converts design px to frame px, measures text and clips hatches to shapes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/scene/scene.h"

namespace headroom::app::paint {

// `em` is in design px (px at scale 1).
struct Type {
  Face face = Face::kRegular;
  float em = 12;
};

// Dash 0: solid.
struct Dash {
  float dash = 0, gap = dash;
};

class Sheet {
 public:
  Sheet(Scene& scene, const Frame& frame) : scene_(scene), frame_(frame) {}

  Scene& scene() { return scene_; }
  const Frame& frame() const { return frame_; }
  const Palette& palette() const { return *frame_.palette; }

  // Converts design px to frame px. On screens, line_px() is at least one pixel.
  float px(float design) const { return snap(design * frame_.scale); }
  float line_px(float design) const;
  // Rounds to whole pixels on screens.
  float snap(float v) const;

  float width(Type type, std::string_view text) const { return frame_.measure->width(type.face, em(type), text); }
  float height(Type type) const { return em(type) * line_of(type.face); }
  float em(Type type) const { return type.em * frame_.scale; }
  // Cuts the text with "…" to at most `width`.
  std::string shortened(Type type, std::string text, float width) const;

  void add(Layer layer, Shape shape) { scene_.items.push_back({layer, std::move(shape)}); }
  void fill(Layer layer, Rect rect, Color color, float radius = 0);
  // outline() centers the stroke on the rectangle's edge; inside() keeps it in the rectangle.
  void outline(Layer layer, const Rect& rect, Color color, float width, float radius = 0, Dash dash = {});
  void inside(Layer layer, const Rect& rect, Color color, float width, float radius = 0, Dash dash = {});
  void line(Layer layer, std::vector<Point> points, Color color, float width, Dash dash = {});
  void horizontal(Layer layer, float x0, float x1, float y, Color color, float width);  // y: upper edge
  void vertical(Layer layer, float x, float y0, float y1, Color color, float width);    // x: left edge
  // `top`: upper edge of the line box.
  Rect text(Layer layer, Type type, Color color, std::string text, float x, float top, Anchor anchor = Anchor::kStart);
  Rect text_mid(Layer layer, Type type, Color color, std::string text, float x, float middle,
                Anchor anchor = Anchor::kStart);

  // Like text_mid(), but cut to `room`. A tooltip has the whole text.
  Rect text_cut(Layer layer, Type type, Color color, std::string text, float x, float middle, float room,
                Anchor anchor = Anchor::kStart);

  // Fills and hatches the background of what does not fit.
  void danger(Layer layer, const Rect& rect);
  // Hatches rectangles in ascending x; lines continue across neighbors.
  void hatch(Layer layer, const std::vector<Rect>& rects, Color color, const HatchRule& rule);

 private:
  Scene& scene_;
  const Frame& frame_;
};

void lay_out_panel(Sheet& sheet, const lessons::Bars& panel, Rect area);
void lay_out_panel(Sheet& sheet, const lessons::Table& table, Rect area);
void lay_out_panel(Sheet& sheet, const lessons::Diagram& diagram, Rect area);
void lay_out_panel(Sheet& sheet, const lessons::AddressMap& panel, Rect area);
void lay_out_panel(Sheet& sheet, const lessons::Traffic& panel, Rect area);

// In place of what the reader cannot see yet.
void lay_out_empty(Sheet& sheet, const std::string& why, const Rect& area);

// In all of these, `whole` is what is there after the answer, whose room is kept; without an open question, the same.
struct PlotPanels {
  const lessons::Timeline& timeline;
  const lessons::Lanes* lanes = nullptr;  // null: none
};
void lay_out_plot(Sheet& sheet, const lessons::FigureHead& head, const PlotPanels& panels, const PlotPanels& whole,
                  Rect area);
void lay_out_lanes(Sheet& sheet, const lessons::Lanes& panel, const lessons::Lanes& whole, Rect area);
void lay_out_rungs(Sheet& sheet, const lessons::FigureHead& head, const lessons::Rungs& panel,
                   const lessons::Rungs& whole, Rect area);
void lay_out_maps(Sheet& sheet, const std::vector<const lessons::HeatMap*>& maps, std::size_t whole, Rect area);
void lay_out_charts(Sheet& sheet, const lessons::FigureHead& head, const std::vector<const lessons::Chart*>& charts,
                    const std::vector<const lessons::Chart*>& whole, Rect area);
// The title or, without one, the y axis's name.
const std::string& name_of(const lessons::Chart& chart);
// `least` shows all rows; more than `most` only adds space.
struct Heights {
  float least = 0, most = 0;
};
Heights heights_of(const Sheet& sheet, const lessons::Table& table);
float most_height(const Sheet& sheet, const lessons::Diagram& diagram, float width);
// The least height at which the boxes of all lanes can have names.
float readable_height(const Sheet& sheet, const lessons::Lanes& lanes);
// "your guess 21.3 GiB", "you said …" once locked, or kDragToGuess. The box is around `at` but inside `within`.
constexpr std::string_view kDragToGuess = "drag to guess";
struct GuessPill {
  Rect box;
  std::string text;
};
GuessPill guess_pill(const Sheet& sheet, const lessons::FigureHead& head, const lessons::Axis& axis, Point at,
                     const Rect& within);
void lay_out_guess_line(Sheet& sheet, Point from, Point to);
void draw_pill(Sheet& sheet, const lessons::FigureHead& head, const GuessPill& pill);
// Returns the height used.
float lay_out_header(Sheet& sheet, const lessons::FigureHead& head, Rect area);
void lay_out_side(Sheet& sheet, const lessons::Timeline& timeline, Rect area);

// A rectangle of one kind of memory, with its hatch and outline.
void lay_out_kind(Sheet& sheet, const Rect& rect, record::Category category, float radius = 0);
void lay_out_swatch(Sheet& sheet, Layer layer, const Rect& rect, record::Category category);

// Items without room.
struct LeftOut {
  std::string_view what;           // "row"
  std::vector<std::string> names;  // shown in the tooltip
  std::size_t count = names.size();
};
// Draws "3 more rows" if any are left out; returns the text's box.
Rect lay_out_more(Sheet& sheet, Layer layer, const LeftOut& left_out, float x, float middle,
                  Anchor anchor = Anchor::kStart);

// A row's index, or empty for the mark that counts the rows left out.
using Line = std::optional<std::size_t>;
// If not all rows fit, middle rows are left out; the first rows and row `keep` (the result) stay.
std::vector<Line> lines_of(std::size_t rows, std::size_t most, std::size_t keep);

struct LegendEntry {
  std::string word;
  std::function<void(const Rect&)> draw;
};
struct Legend {
  Layer layer = Layer::kLabels;
  Type type;
  float sample_width = 14, sample_height = 11;  // px at scale 1
  std::vector<LegendEntry> entries = {};
};
float legend_height(const Sheet& sheet, const Legend& legend, float width, int most_lines);
// Ends with the number of entries without room. Returns the height used.
float lay_out_legend(Sheet& sheet, const Legend& legend, Rect area, int most_lines);
float more_width(const Sheet& sheet, std::string_view what, std::size_t count);

using lessons::in_unit;
// Inserts the separator if neither string is empty.
std::string joined(std::string first, std::string_view separator, const std::string& second);

}  // namespace headroom::app::paint
