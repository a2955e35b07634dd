// One chart in its rectangle: axes, bars or marks, references, and labels that avoid each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/ticks.h"
#include "lessons/figure.h"

namespace headroom::app::paint {

// `turn` numbers the series of one kind from 0.
struct Look {
  lessons::SeriesKind kind = lessons::SeriesKind::kOther;
  bool published = false;
  int turn = 0;
  std::optional<record::Category> category = {};
  bool hatched = false;  // an earlier series has the same category
};

std::vector<Look> looks_of(const lessons::Chart& chart);
Color line_color(const Palette& palette, const Look& look);

void lay_out_box(Sheet& sheet, const Rect& rect, const Look& look);
// Hollow marks show published values or further series of the same kind.
void lay_out_mark(Sheet& sheet, Point at, const Look& look);
void lay_out_line(Sheet& sheet, std::vector<Point> points, const Look& look);

// True if charts of this width name series at their ends instead of in the legend.
bool names_ends(const Sheet& sheet, float width);

class ChartLayout {
 public:
  // `whole`: the chart after the answer, whose room is kept. `guess`: the value of a line that labels avoid. The plot
  // begins at `left` or to the right of it.
  ChartLayout(Sheet& sheet, const lessons::Chart& chart, const lessons::Chart& whole, Rect area,
              std::optional<double> guess, float left = 0);
  const Rect& plot() const { return plot_; }
  // True if the box meets no bar, mark or number.
  bool is_clear(const Rect& box) const { return is_free(box) && !meets_bar(box); }

  void draw();

  // Draws numbers over bars. Call it after drawing lines over the chart.
  void draw_numbers();

 private:
  float x_px(double value) const;
  float y_px(double value) const;
  void ground();

  // The title, the unit of the y axis and the count of labels without room.
  void head();
  void references();
  void limit_zones();

  // For each label, tries the ends of its line, places along the line, then the plot's upper edge. Uses the first place
  // without a mark, bar or line.
  void place_reference_labels();
  bool is_free(const Rect& box) const;

  // True if the box meets a bar or a bar's number.
  bool meets_bar(const Rect& box) const;

  void draw_reference_labels();
  void whisker(const lessons::ChartPoint& point, float x, Color color);

  // Width of a bar and its gap.
  float bar_pitch() const;

  // Bars of a category are centered on the category's position; missing bars leave no gap.
  Rect bar_of(std::size_t series, const lessons::ChartPoint& point) const;
  void bars();

  Rect value_box(const lessons::ChartPoint& point, const Rect& bar) const;

  // One bar per category, with the series stacked.
  void stacks();

  void areas();

  // Hatches the room above a bar that ran out of memory.
  void failed_label(const Rect& bar, float room);

  // Returns false if there is no number or no room for it.
  bool value_label(const lessons::ChartPoint& point, const Rect& bar, float room, const Look* look);
  void marks();
  void marks_of(std::size_t series);
  void take_marks(const lessons::ChartSeries& series);

  void failure(Point at, const Look& look, const lessons::ChartPoint& point);

  // Draws crosses for points that ran out of memory: at their would-be value if known, else under the top edge, one row
  // per series.
  void failures();

  // Writes "out of memory" before the first cross of a row or after the last. False if there is no room.
  bool say_failed(float before, float behind, float middle);

  void mark_label(const lessons::ChartPoint& point, Point at);

  bool crosses_line(const Rect& box) const;
  // Lines that labels avoid: references, joined series, the reader's guess.
  void find_lines();
  void find_edges();
  // Names each series next to its last point.
  void end_names();
  std::vector<Rect> around(Point at, float width, float height) const;
  // Uses the first free place, with a leader line if `at` is far away; false if there is none.
  bool place_label(Type type, Color color, const std::string& text, Point at, const std::vector<Rect>& places);
  void x_labels();

  // Category names, alternating between two lines if staggered. Only a name that would meet its neighbor is shortened.
  void category_labels(float top);
  static constexpr float kLeastNamed = 120;  // px; lower charts do not name the x axis

  Sheet& sheet_;
  const Palette& palette_;
  const lessons::Chart& chart_;
  std::optional<double> guess_;
  Rect area_;
  bool said_failed_ = false;
  std::vector<Look> looks_;
  Rect head_, plot_;
  ChartTicks y_;
  bool staggered_ = false;
  bool named_ = false;
  struct Label {
    Rect box;
    std::string text;
    Color color;
  };
  struct Number {
    Rect box;
    std::string text;
    bool inside = false;
    Color color;
  };
  std::vector<std::string> left_out_;  // names and numbers without room
  std::vector<Label> reference_labels_;
  std::vector<Number> numbers_;
  std::vector<Rect> bars_;   // including the numbers over them
  std::vector<Rect> taken_;  // labels and marks
  std::vector<Rect> texts_;  // only the labels
  std::vector<std::vector<Point>> lines_;
};

}  // namespace headroom::app::paint
