// One chart in its rectangle: axes, bars or marks, references, and labels that keep off each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/paint/layout/chart_look.h"
#include "app/paint/layout/sheet.h"
#include "app/paint/scene/ticks.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// Whether series of a chart of that width are named at their ends; else the legend has them.
bool names_ends(const Sheet& sheet, float width);

// Draws one chart into a sheet.
class ChartLayout {
 public:
  // `guess`: where the reader's line will run.
  ChartLayout(Sheet& sheet, const lessons::Chart& chart, Rect area, std::optional<double> guess);
  const Rect& plot() const { return plot_; }
  // Whether nothing is drawn there: bars, marks and numbers.
  bool is_clear(const Rect& box) const { return is_free(box) && !meets_bar(box); }

  void draw();

  // The numbers over bars, in front of lines that are drawn over the chart.
  void draw_numbers();

 private:
  float x_px(double value) const;
  float y_px(double value) const;
  void ground();

  // The title, the unit of the y axis behind it, and how many names and numbers have no room.
  void head();
  void references();
  void limit_zones();

  // At its line's right end, above or below, or at its left end, else at the plot's upper edge: the first place without a
  // mark or a bar.
  void place_reference_labels();
  bool is_free(const Rect& box) const;

  // A bar, or the number over it.
  bool meets_bar(const Rect& box) const;

  // Over the bars, on a patch of the ground.
  void draw_reference_labels();
  void whisker(const lessons::ChartPoint& point, float x, Color color);

  // Width of a bar with its gap: the series of a place are side by side.
  float bar_pitch() const;

  // The bars of a place are centered on it; missing ones leave no gap.
  Rect bar_of(std::size_t series, const lessons::ChartPoint& point) const;
  void bars();

  // The number over a bar.
  Rect value_box(const lessons::ChartPoint& point, const Rect& bar) const;

  // One bar per place: its series on each other, a line of ground between two.
  void stacks();

  // Series of the same places as areas on each other, and the edge of each.
  void areas();

  // Over a bar that goes no further because memory ran out.
  void failed_label(const Rect& bar, float room);

  // False: there is none, or no room for it.
  bool value_label(const lessons::ChartPoint& point, const Rect& bar, float room, const Look* look);
  void marks();
  void marks_of(std::size_t series);
  // Labels keep off them.
  void take_marks(const lessons::ChartSeries& series);

  void failure(Point at, const Look& look, const lessons::ChartPoint& point);

  // What ran out of memory, where it would be; of the others a cross per point, a row per series, under the top edge.
  void failures();

  // The word for a row of crosses, before the first of them or behind the last. False: there is no room.
  bool say_failed(float before, float behind, float middle);

  // Right of its mark, else left of it, above or below, where there is no other label and no line.
  void mark_label(const lessons::ChartPoint& point, Point at);

  // A line runs through the box.
  bool crosses_line(const Rect& box) const;
  // What labels keep off: references, series that are joined, the reader's guess.
  void find_lines();
  void find_edges();
  // Above the limit: the zone that does not fit.
  void limit_zone(const lessons::ChartReference& limit);
  // The names of series beside their last points.
  void end_names();
  std::vector<Rect> around(Point at, float width, float height) const;
  // At the first of these places that is free, with a line from `at` where that is far. False: there is none.
  bool place_label(Type type, Color color, const std::string& text, Point at, const std::vector<Rect>& places);
  void x_labels();

  // Names of places, on one line or on two by turns; shortened only where they would meet their neighbor on the line.
  void category_labels(float top);
  static constexpr float kLeastNamed = 120;  // px of height from which there is room for the name of the x axis

  Sheet& sheet_;
  const Palette& palette_;
  const lessons::Chart& chart_;
  std::optional<double> guess_;
  Rect area_;
  bool said_failed_ = false;
  std::vector<Look> looks_;
  Rect head_, plot_;
  ChartTicks y_;
  bool staggered_ = false;  // names of places that do not fit side by side take two lines
  bool named_ = false;      // the x axis says what it counts
  struct Label {
    Rect box;
    std::string text;
    Color color;
  };
  struct Number {
    Rect box;
    std::string text;
    bool inside = false;  // of its bar
    Color color;
  };
  std::vector<std::string> left_out_;  // names and numbers without room
  std::vector<Label> reference_labels_;
  std::vector<Number> numbers_;  // over bars
  std::vector<Rect> bars_;       // and the numbers over them
  std::vector<Rect> taken_;      // labels and marks that another label keeps off
  std::vector<Rect> texts_;      // of those the labels
  std::vector<std::vector<Point>> lines_;
};

}  // namespace headroom::app::paint
