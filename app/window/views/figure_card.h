// The figure of a page in its card: head, picture, and what mouse and keyboard do with a timeline.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/paint/scene/scene.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"
#include "lessons/figure.h"

namespace headroom::app::window {

// The parameters of the figure on show that have a control: not those that a click into the picture or the player sets.
std::vector<const record::ParamSpec*> figure_params(const page::PageModel& page);
// Of these, what a reader chooses beside the figure's name: its time axis, its kernel, …
std::vector<const record::ParamSpec*> figure_choices(const page::PageModel& page);
void draw_figure_choice(page::PageModel& page, const record::ParamSpec& spec, const Rect& rect);

class FigureCard {
 public:
  // Title, source, which run, time axis, predicted or measured.
  void draw_head(PageFrame& frame, const Rect& rect);
  // On stage: source, and what the figure is of.
  void draw_caption(PageFrame& frame, Rect rect);
  // The picture with its list; fills the rectangle.
  void draw_picture(PageFrame& frame, const Rect& rect);
  // Narrow pages: the list of what is alive, over the picture.
  void draw_drawer(PageFrame& frame, const Rect& rect);

  // The picture as last drawn, for tests.
  const paint::Scene& scene() const { return scene_; }
  // How many columns of data the plot has room for.
  int columns() const { return static_cast<int>(plot_width_); }
  int layouts() const { return layouts_; }  // how often the picture was laid out anew

  // The kind whose band or row the mouse is on.
  std::optional<record::Category> pointed_at() const { return pointed_at_; }

  // The field for a kernel's name, if there is one, takes what is typed next.
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

  void lay_out(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void interact(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void start_drag(PageFrame& frame, const lessons::FigureData& figure, ImVec2 mouse);
  void drag_guess(PageFrame& frame, ImVec2 mouse) const;
  void draw_measure(PageFrame& frame, const Rect& rect);
  Rect plot_in(const Rect& rect) const;
  void draw_awaited(const Rect& rect, std::string_view words) const;
  static void draw_words_over(const Rect& area, std::string_view words);
  // Why there are no kernels below, and the button that makes them.
  void draw_trace_line(PageFrame& frame, const Rect& rect, std::string_view why) const;
  void draw_search(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect);
  void select_at(PageFrame& frame, ImVec2 mouse) const;
  void point_at(ImVec2 mouse);
  void act(PageFrame& frame, const Rect& rect);

  paint::Scene scene_;
  LaidOutFor laid_out_for_;
  int layouts_ = 0;
  float plot_width_ = 800;  // of the last layout: how many columns are worth making
  Drag drag_ = Drag::kNone;
  double drag_from_ = 0;       // axis position where the drag began
  bool wants_search_ = false;  // the field for a kernel's name is to be typed in
  bool had_lanes_ = false;     // in the last picture: Ctrl F has something to find
  std::optional<record::Category> pointed_at_;
  std::optional<int> marked_;  // the thing that the mouse is on, in all its places
};

}  // namespace headroom::app::window
