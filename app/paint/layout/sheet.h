// Builds a scene: px of the design to px of the frame, text with its measured box, hatches cut to shapes.
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

// A face at an em of the design (px at scale 1).
struct Type {
  Face face = Face::kRegular;
  float em = 12;
};

class Sheet {
 public:
  Sheet(Scene& scene, const Frame& frame) : scene_(scene), frame_(frame) {}

  Scene& scene() { return scene_; }
  const Frame& frame() const { return frame_; }
  const Palette& palette() const { return *frame_.palette; }

  // px of the design in px of the frame; lines are never thinner than a pixel of the screen.
  float px(float design) const { return snap(design * frame_.scale); }
  float line_px(float design) const;
  // Whole pixels on a screen.
  float snap(float v) const;

  float width(Type type, std::string_view text) const { return frame_.measure->width(type.face, em(type), text); }
  float height(Type type) const { return em(type) * line_of(type.face); }
  float em(Type type) const { return type.em * frame_.scale; }
  // The text, cut with "…" so that it is at most `width` wide.
  std::string shortened(Type type, std::string text, float width) const;

  void add(Layer layer, Shape shape) { scene_.items.push_back({layer, std::move(shape)}); }
  void fill(Layer layer, Rect rect, Color color, float radius = 0);
  void horizontal(Layer layer, float x0, float x1, float y, Color color, float width);  // y: upper edge
  void vertical(Layer layer, float x, float y0, float y1, Color color, float width);    // x: left edge
  // `top` is the upper edge of the line box; x what the anchor says.
  Rect text(Layer layer, Type type, Color color, std::string text, float x, float top, Anchor anchor = Anchor::kStart);
  // Vertically centered on `middle`.
  Rect text_mid(Layer layer, Type type, Color color, std::string text, float x, float middle,
                Anchor anchor = Anchor::kStart);

  // The hatch of a row of rectangles (by ascending x); lines go on from one to its neighbor.
  void hatch(Layer layer, const std::vector<Rect>& rects, Color color, const HatchRule& rule);

 private:
  Scene& scene_;
  const Frame& frame_;
};

// Panels and parts of a figure, each into its rectangle.
// `lanes`: below the plot, on its axis; null: none.
void lay_out_plot(Sheet& sheet, const lessons::FigureHead& head, const lessons::Timeline& timeline,
                  const lessons::Lanes* lanes, Rect area);
void lay_out_bars(Sheet& sheet, const lessons::Bars& panel, Rect area);
void lay_out_lanes(Sheet& sheet, const lessons::Lanes& panel, Rect area);
void lay_out_rungs(Sheet& sheet, const lessons::FigureHead& head, const lessons::Rungs& panel, Rect area);
void lay_out_table(Sheet& sheet, const lessons::Table& table, Rect area);
// From the height in which all rows are there to the one beyond which there is only air.
struct Heights {
  float least = 0, most = 0;
};
Heights heights_of(const Sheet& sheet, const lessons::Table& table);
void lay_out_maps(Sheet& sheet, const std::vector<const lessons::HeatMap*>& maps, Rect area);
void lay_out_diagram(Sheet& sheet, const lessons::Diagram& diagram, Rect area);
// The height that it fills at this width.
float most_height(const Sheet& sheet, const lessons::Diagram& diagram, float width);
void lay_out_addresses(Sheet& sheet, const lessons::AddressMap& panel, Rect area);
void lay_out_traffic(Sheet& sheet, const lessons::Traffic& panel, Rect area);
void lay_out_charts(Sheet& sheet, const lessons::FigureHead& head, const std::vector<const lessons::Chart*>& charts,
                    Rect area);
// "your guess 21.3 GiB", a value of `axis`, around `at` but inside; once it is locked, "you said …"; before there is
// one, what to do.
constexpr std::string_view kDragToGuess = "drag to guess";
struct GuessPill {
  Rect box;
  std::string text;
};
GuessPill guess_pill(const Sheet& sheet, const lessons::FigureHead& head, const lessons::Axis& axis, Point at,
                     const Rect& within);
void draw_pill(Sheet& sheet, const lessons::FigureHead& head, const GuessPill& pill);
// Returns the height that it took.
float lay_out_header(Sheet& sheet, const lessons::FigureHead& head, Rect area);
// What is alive, and the memory levels.
void lay_out_side(Sheet& sheet, const lessons::Timeline& timeline, Rect area);

// A rectangle of one kind of memory: its color, with its hatch and outline.
void lay_out_kind(Sheet& sheet, const Rect& rect, record::Category category, float radius = 0);
// The small square of a kind beside a name.
void lay_out_swatch(Sheet& sheet, Layer layer, const Rect& rect, record::Category category);

// What has no room is counted.
struct LeftOut {
  std::string_view what;           // "row"
  std::vector<std::string> names;  // at the pointer, a line each
  std::size_t count = names.size();
};
// "3 more rows" at x; nothing where nothing is left out. Returns the box of the words.
Rect lay_out_more(Sheet& sheet, Layer layer, const LeftOut& left_out, float x, float middle,
                  Anchor anchor = Anchor::kStart);

// What is on one line of a list: a row by its place, or nothing: the mark for those that are left out.
using Line = std::optional<std::size_t>;
// Where not all rows have room the middle ones go: the first is where a list begins, and `keep` is what it comes to.
std::vector<Line> lines_of(std::size_t rows, std::size_t most, std::size_t keep);

struct LegendEntry {
  std::string word;
  std::function<void(const Rect&)> draw;  // its sample
};
struct Legend {
  Layer layer = Layer::kLabels;
  Type type;
  float sample_width = 14, sample_height = 11;  // px at scale 1
  std::vector<LegendEntry> entries = {};
};
// On at most so many lines; entries without room are counted. Returns the height that it took.
float lay_out_legend(Sheet& sheet, const Legend& legend, Rect area, int most_lines);
float more_width(const Sheet& sheet, std::string_view what, std::size_t count);

using lessons::in_unit;
// Both with the separator between them, or the one that there is.
std::string joined(std::string first, std::string_view separator, const std::string& second);

}  // namespace headroom::app::paint
