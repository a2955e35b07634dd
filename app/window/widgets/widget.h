// Widgets: what a page offers besides words and figures. Pages name them by id; each is declared once as `constinit
// const Widget k…` and listed in catalogue.cpp.
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
  kBesideFigure,  // part of the figure's card
  kBelowFigure,   // the rows below the figure
};

// Starts a run of one step. A run longer than a minute needs a second call.
void start_run(PageFrame& frame);
// Empty: unknown.
std::string estimate_words(const page::PageModel& page);
constexpr double kLongRun = 60;  // seconds; longer runs need confirmation
// "about 4 s", "about 3 min"; empty: unknown.
std::string seconds_words(std::optional<double> seconds);

struct OfferedParam {
  bool of_figure = false;
  const record::ParamSpec* spec = nullptr;
};

class WidgetView {
 public:
  virtual ~WidgetView() = default;

  virtual Slot slot() const = 0;
  // A widget beside the figure takes its part of `rect`; an empty rest hides the figure.
  virtual void draw(PageFrame& frame, Rect& rect) = 0;

  // Drawn after the picture, for controls on the rows that it leaves free.
  virtual void draw_over(PageFrame& /*frame*/, const Rect& /*picture*/) {}

  // Narrow pages: height below the figure in px at scale 1; with less, the widget is one line.
  virtual float narrow_height() const { return 34; }
  virtual void draw_narrow(PageFrame& frame, Rect rect) { draw(frame, rect); }

  // It has Run for the page's settings.
  virtual bool has_run_button() const { return false; }
  // It sweeps over the page's settings, next to Run.
  virtual bool has_sweep_button() const { return false; }
  // It starts other runs: the page has no Run and shows only its first settings.
  virtual bool starts_runs() const { return false; }
  // It has the figure's parameters, which the figure's head then omits.
  virtual bool has_figure_params() const { return false; }
  // It edits this setting itself.
  virtual bool edits(std::string_view /*key*/) const { return false; }
  // Why the figure is empty while the page has no run; empty: the usual reason.
  virtual std::string_view empty_reason() const { return {}; }

  // Settings that it offers now.
  virtual std::vector<OfferedParam> offers(const PageFrame& /*frame*/) const { return {}; }

  virtual bool running() const { return false; }
  // True if anything changed.
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

class PageWidgets {
 public:
  PageWidgets(const lessons::Page& page, const WidgetHost& host);

  // Widgets of the slot, in the page's order.
  std::vector<WidgetView*> in(Slot slot) const;
  // The widget among the page's words; null: none.
  WidgetView* among_words(std::string_view id) const;
  // The widget of that type; null: none.
  template <class View>
  View* find() const {
    for (const auto& view : views_)
      if (auto* found = dynamic_cast<View*>(view.get())) return found;
    return nullptr;
  }

  // True if the page has Run, whose result can be predicted, and no sweep runs.
  bool run_button() const;
  bool sweep_button() const;
  bool start_runs() const;
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
