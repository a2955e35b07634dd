// A page's figure in its card: head, picture, and interaction with timelines.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/paint/layout/layout.h"
#include "app/paint/scene/scene.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "lessons/figure.h"
#include "lessons/pages/blocks/figure.h"

namespace headroom::app::window {

// The current figure's parameters that have a control; clicks into the picture and the player set the others.
std::vector<const record::ParamSpec*> figure_params(const page::PageModel& page);
// Parameters that the head offers, such as time axis and kernel.
std::vector<const record::ParamSpec*> figure_choices(const page::PageModel& page);
// `label` stands in the select, if it has no label of its own.
void draw_figure_choice(page::PageModel& page, const record::ParamSpec& spec, const Rect& rect,
                        std::string_view label = {});
// Handles clicks on the boxes of a scene drawn at `rect`, which set parameters of the figure or settings of the page.
void act_on_boxes(PageFrame& frame, const paint::Scene& scene, const Rect& rect);

class FigureCard {
 public:
  void draw_head(PageFrame& frame, const Rect& rect);
  // On stage: draws source and subject.
  void draw_caption(PageFrame& frame, Rect rect);
  void draw_picture(PageFrame& frame, const Rect& rect);
  // Narrow pages: the list of live tensors, over the picture.
  void draw_drawer(PageFrame& frame, const Rect& rect);

  const paint::Scene& scene() const { return scene_; }
  // Columns of data that the plot has room for.
  int columns() const { return static_cast<int>(plot_width_); }
  int layouts() const { return layouts_; }

  std::optional<record::Category> pointed_at() const { return pointed_at_; }

  // Focuses the kernel search, if there is one.
  void search() { wants_search_ = had_lanes_; }

 private:
  struct LaidOutFor {
    int revision = -1;
    ImVec2 size{};
    float scale = 0;
    ThemeId theme = ThemeId::kLight;
    std::optional<record::Category> lit;
    std::optional<int> marked;

    bool operator==(const LaidOutFor& o) const {
      return revision == o.revision && size.x == o.size.x && size.y == o.size.y && scale == o.scale &&
             theme == o.theme && lit == o.lit && marked == o.marked;
    }
  };
  enum class Drag { kNone, kGuess, kMeasure, kPan };
  // The names that a mark left out.
  struct LeftOutSheet {
    int revision = -1;
    std::string_view what;
    std::vector<std::string> names;
    paint::Scene scene;  // without items if no frame has room
  };

  static paint::Frame frame_of(const PageFrame& frame, ImVec2 size);
  void draw_marks(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void open_sheet(PageFrame& frame, const lessons::FigureData& figure, const paint::MoreMark& mark, ImVec2 size);
  void draw_sheet() const;

  void lay_out(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void interact(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void start_drag(PageFrame& frame, const lessons::FigureData& figure, ImVec2 mouse);
  void drag_guess(PageFrame& frame, ImVec2 mouse) const;
  void draw_measure(PageFrame& frame, const Rect& rect);
  Rect plot_in(const Rect& rect) const;
  void draw_awaited(const Rect& rect, std::string_view words) const;
  static void draw_words_over(const Rect& area, std::string_view words);
  void draw_trace_line(PageFrame& frame, const Rect& rect, std::string_view why) const;
  void draw_search(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void select_at(PageFrame& frame, ImVec2 mouse) const;
  void point_at(ImVec2 mouse);

  paint::Scene scene_;
  LaidOutFor laid_out_for_;
  int layouts_ = 0;
  float plot_width_ = 800;  // of the last layout
  Drag drag_ = Drag::kNone;
  double drag_from_ = 0;  // where the drag began, on the axis
  bool wants_search_ = false;
  bool had_lanes_ = false;  // in the last picture
  std::optional<record::Category> pointed_at_;
  LeftOutSheet sheet_;
  std::optional<int> marked_;  // the item under the mouse, in all its places
};

// Figures among the words: small, not interactive, laid out only when their content changes.
class Insets {
 public:
  // Takes room from the column. `place`: step and part of the page. A click shows the full-size figure.
  void draw(PageFrame& frame, std::pair<int, int> place, const lessons::FigureBlock& block);

 private:
  struct Inset {
    int revision = -1;
    float width = 0, scale = 0;
    ThemeId theme{};
    paint::Scene scene;
    std::string title, empty_reason;
  };
  void lay_out(PageFrame& frame, Inset& inset, const lessons::FigureBlock& block, float width, float height);

  std::map<std::pair<int, int>, Inset> insets_;
};

}  // namespace headroom::app::window
