// A laid-out figure. Painters (the window's draw list, SVG, cairo) only paint its items in order, so that exports match
// the screen.
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

// All faces except mono use OpenType's tnum for digits of equal width.
enum class Face : std::uint8_t { kRegular, kMedium, kSemiBold, kDisplay, kMono };
inline constexpr int kNumFaces = 5;

// Ascender and line height as shares of the em.
constexpr float ascent_of(Face face) { return face == Face::kMono ? 1.02f : 0.96875f; }
constexpr float line_of(Face face) { return face == Face::kMono ? 1.32f : 1.2102f; }

// Painters may group items by layer; tests use it to find items.
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

// One kind of memory over time. Neighbors of equal height are merged.
struct Columns {
  record::Category category = record::Category::kOther;
  Color color;
  std::vector<Rect> rects;
};

// One closed outline per run of touching rectangles, so that no seam shows.
std::vector<std::vector<Point>> outlines_of(const std::vector<Rect>& rects);

// Separate straight lines of one color: hatches, grid.
struct Segments {
  struct Piece {
    Point from, to;
  };
  std::vector<Piece> pieces;
  Color color;
  float width = 1;
};

// Step functions have only horizontal and vertical pieces, which are painted without anti-aliasing.
struct Polyline {
  std::vector<Point> points;  // center of the stroke
  Color color;
  float width = 1;
  float dash = 0, gap = 0;  // 0: solid
};

struct Disc {
  Point center;
  float radius = 0;  // to the stroke's center
  Color fill;        // alpha 0: a ring
  Color stroke;
  float stroke_width = 0;  // 0: none
};

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

struct Text {
  Point at;  // on the baseline, at `anchor`
  std::string text;
  Face face = Face::kRegular;
  float em = 12;  // px; ImGui's size is em * line_of(face)
  Color color;
  Anchor anchor = Anchor::kStart;
  Rect box;  // measured width by line height
};

using Shape = std::variant<Fill, Outline, Columns, Segments, Polyline, Disc, Text>;

struct Item {
  Layer layer = Layer::kGround;
  Shape shape;
};

struct PlotMap {
  Rect plot;
  lessons::Axis x, y;

  float x_px(double value) const { return plot.x0 + static_cast<float>(lessons::part_of(x, value)) * plot.width(); }
  float y_px(double value) const { return plot.y1 - static_cast<float>(lessons::part_of(y, value)) * plot.height(); }
  double x_at(float px) const { return lessons::value_at(x, static_cast<double>(px - plot.x0) / plot.width()); }
  double y_at(float px) const { return lessons::value_at(y, static_cast<double>(plot.y1 - px) / plot.height()); }
};

// Reacts to the pointer: a row of the list, a bar, a phase.
struct HitArea {
  Rect rect;
  std::optional<record::Category> category;
  std::string tip;                               // text that may not fit: "loss", a full row
  std::optional<lessons::SetParam> action = {};  // set by a click
  std::vector<lessons::SetParam> settings = {};  // of the page, set together by a click
  std::optional<std::size_t> span = {};          // kernel selected by a click
  std::optional<int> mark = {};                  // areas with the same number light up together
};

// "3 more rows": items without room. The tooltip names them.
struct MoreMark {
  Rect rect;
  std::string_view what;  // "row"
  std::size_t count = 0;
  std::vector<std::string> names;
};

struct Scene {
  float width = 0, height = 0;
  Color ground;                // exporters paint it under everything; the window has a card instead
  std::vector<Item> items;     // in painting order
  PlotMap map;                 // `plot` is empty without axes
  std::optional<Rect> lanes;   // below the plot, on its x axis
  std::optional<Rect> search;  // room for a search field, above the lanes
  std::optional<Rect> guess;   // the pill to drag
  bool guess_along_x = false;  // dragged along x, else along y
  std::optional<Rect> rungs;   // rows of equal height for the window's switches
  std::vector<HitArea> hits;
  std::vector<MoreMark> more;
  std::string title;  // for alternative text
  std::string description;
};

}  // namespace headroom::app::paint
