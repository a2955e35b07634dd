// A figure laid out: rectangles, lines, dots and text with places, sizes and colors. Painters (the window's draw list,
// SVG, cairo) paint the items in order and decide nothing themselves, so that what is exported equals what is seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/paint/scene/palette.h"
#include "app/paint/scene/rect.h"
#include "demos/record/units.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// Faces of assets/fonts. Digits of all but the mono face have one width (OpenType feature tnum).
enum class Face : std::uint8_t { kRegular, kMedium, kSemiBold, kDisplay, kMono };
inline constexpr int kNumFaces = 5;

// Share of the em above the baseline, and of the whole line box, of a face (its ascender and descender).
constexpr float ascent_of(Face face) { return face == Face::kMono ? 1.02f : 0.96875f; }
constexpr float line_of(Face face) { return face == Face::kMono ? 1.32f : 1.2102f; }

// What an item is part of; painters may group by it, tests look items up by it.
enum class Layer : std::uint8_t {
  kGround,
  kStack,
  kLines,
  kHidden,
  kMarks,
  kLabels,
  kAxes,
  kBands,
  kHeader,
  kList,
  kLevels,
  kBars
};
std::string_view name_of(Layer layer);

struct Fill {
  Rect rect;
  Color color;
  float radius = 0;
};

struct Outline {
  Rect rect;  // center of the stroke
  Color color;
  float width = 1;
  float radius = 0;
  float dash = 0, gap = 0;  // 0: solid
};

// One kind of memory over time: columns from left to right, each a filled rectangle; neighbors of equal height are
// one.
struct Columns {
  record::Category category = record::Category::kOther;
  Color color;
  std::vector<Rect> rects;
};

// Separate straight lines of one color: hatches, grid.
struct Segments {
  struct Piece {
    Point from, to;
  };
  std::vector<Piece> pieces;
  Color color;
  float width = 1;
};

// A connected line. Step functions have only horizontal and vertical pieces: paint those without anti-aliasing.
struct Polyline {
  std::vector<Point> points;  // center of the stroke
  Color color;
  float width = 1;
  float dash = 0, gap = 0;  // 0: solid
};

struct Disc {
  Point center;
  float radius = 0;  // center of the stroke
  Color fill;        // alpha 0: a ring
  Color stroke;
  float stroke_width = 0;  // 0: none
};

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

struct Text {
  Point at;  // on the baseline; left end, middle or right end
  std::string text;
  Face face = Face::kRegular;
  float em = 12;  // px; ImGui's size is em * line_of(face)
  Color color;
  Anchor anchor = Anchor::kStart;
  Rect box;  // what the layout keeps free for it: the measured width times the line
};

using Shape = std::variant<Fill, Outline, Columns, Segments, Polyline, Disc, Text>;

struct Item {
  Layer layer = Layer::kGround;
  Shape shape;
};

// Between pixels and the values of the axes.
struct PlotMap {
  Rect plot;
  lessons::Axis x, y;

  float x_px(double value) const { return plot.x0 + static_cast<float>(lessons::part_of(x, value)) * plot.width(); }
  float y_px(double value) const { return plot.y1 - static_cast<float>(lessons::part_of(y, value)) * plot.height(); }
  double x_at(float px) const { return lessons::value_at(x, static_cast<double>(px - plot.x0) / plot.width()); }
  double y_at(float px) const { return lessons::value_at(y, static_cast<double>(plot.y1 - px) / plot.height()); }
};

// Something that can be pointed at: a row of the list, a bar, a phase.
struct HitArea {
  Rect rect;
  std::optional<record::Category> category;
  std::string tip;                               // what may not fit on the thing itself: "loss", a row in full
  std::optional<lessons::SetParam> action = {};  // of a click
  std::optional<std::size_t> span = {};          // a kernel that a click selects
  std::optional<int> mark = {};                  // the same thing in several places: pointing at one lights all
};

// "3 more rows": what has no room. The words at the pointer name them.
struct MoreMark {
  Rect rect;
  std::string_view what;  // "row"
  std::size_t count = 0;
};

struct Scene {
  float width = 0, height = 0;
  Color ground;                // painted under everything by exporters; the window has its card there
  std::vector<Item> items;     // in painting order
  PlotMap map;                 // plot is empty where the figure has no axes
  std::optional<Rect> lanes;   // below the plot and on its x axis
  std::optional<Rect> search;  // over the lanes: room for a field
  std::optional<Rect> guess;   // the pill to drag, up and down;
  bool guess_along_x = false;  // or to the sides
  std::optional<Rect> rungs;   // the names of all rungs of a ladder, rows of one height; empty: none are left out
  std::vector<HitArea> hits;
  std::vector<MoreMark> more;
  std::string title;  // for alternative text
  std::string description;
};

}  // namespace headroom::app::paint
