// Widgets: what a page has beside words and figures to work with. Pages name them by id; each is declared once, in its
// file here, as `constinit const Widget k…` and listed in catalogue.cpp.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/draw/draw.h"
#include "demos/record/schema.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {
class PageModel;
}

namespace headroom::app::window {

struct PageFrame;
struct SweepEngines;

enum class Slot : unsigned char {
  kBesideFigure,  // takes a part of the figure's card
  kBelowFigure,   // in the rows below the figure
};

// Run of one step. One that would take longer than a minute asks first: the second call starts it.
void start_run(PageFrame& frame);
// "about 9 min", "about 3 s"; empty: not known.
std::string estimate_words(const page::PageModel& page);
constexpr double kLongRun = 60;  // seconds: a run that takes more is asked for twice
// "about 4 s", "about 3 min"; empty: not known.
std::string seconds_words(std::optional<double> seconds);

struct OfferedParam {
  bool of_figure = false;
  const record::ParamSpec* spec = nullptr;
};

// One widget on one page, with its state there.
class WidgetView {
 public:
  virtual ~WidgetView() = default;

  virtual Slot slot() const = 0;
  // Beside the figure it takes its part of `rect`; an empty rest leaves no room for the figure.
  virtual void draw(PageFrame& frame, Rect& rect) = 0;

  // On the figure's picture, after it: of a widget that puts controls on rows that the picture has left for them.
  virtual void draw_over(PageFrame& /*frame*/, const Rect& /*picture*/) {}

  // Narrow pages, of a widget below the figure: px at scale 1, and folded into a line if less is there.
  virtual float narrow_height() const { return 34; }
  virtual void draw_narrow(PageFrame& frame, Rect rect) { draw(frame, rect); }

  // It has Run, for one run with the page's settings.
  virtual bool has_run_button() const { return false; }
  // It makes a sweep with the page's settings, beside Run of one step.
  virtual bool has_sweep_button() const { return false; }
  // It starts runs of another kind: the page then has no Run of one step, and shows its first settings only.
  virtual bool starts_runs() const { return false; }
  // It has the parameters of the figure on show, which are then not beside the figure's name.
  virtual bool has_figure_params() const { return false; }
  // It edits this setting of the demo itself.
  virtual bool edits(std::string_view /*key*/) const { return false; }
  // Why the figure is empty as long as the page has no run; empty: as elsewhere.
  virtual std::string_view empty_reason() const { return {}; }

  // What can be set with it now; `of_figure`: of the figure on show, not of the page.
  virtual std::vector<OfferedParam> offers(const PageFrame& /*frame*/) const { return {}; }

  virtual bool running() const { return false; }
  // Takes in what has arrived. True: something changed.
  virtual bool poll() { return false; }
};

struct WidgetHost {
  page::PageModel& page;
  SweepEngines& engines;
};

struct Widget {
  std::string_view id;  // as in lessons/pages/widgets.h
  std::unique_ptr<WidgetView> (*make)(const WidgetHost& host);
};
std::span<const Widget* const> widgets();

// The widgets of one page.
class PageWidgets {
 public:
  PageWidgets(const lessons::Page& page, const WidgetHost& host);

  // Those of the slot, in the page's order.
  std::vector<WidgetView*> in(Slot slot) const;
  // The one that the page's words have in them; null: it is not there.
  WidgetView* among_words(std::string_view id) const;
  // The one of that type; null: the page has none.
  template <class View>
  View* find() const {
    for (const auto& view : views_)
      if (auto* found = dynamic_cast<View*>(view.get())) return found;
    return nullptr;
  }

  // Run of one step is on the page, and what it would do can be predicted. Not while a sweep is on.
  bool run_button() const;
  bool sweep_button() const;
  bool start_runs() const;  // one of them does
  bool have_figure_params() const;
  bool edit(std::string_view key) const;
  std::string_view empty_reason() const;
  std::vector<OfferedParam> offers(const PageFrame& frame) const;
  bool running() const;
  bool poll();

 private:
  std::vector<std::unique_ptr<WidgetView>> views_;            // those of the slots first
  std::map<std::string, WidgetView*, std::less<>> of_words_;  // by id
};

}  // namespace headroom::app::window
