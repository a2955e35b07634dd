// Widgets: what a page offers besides words and figures. Pages name them by id; each is declared once as `constinit
// const Widget k…` and listed in catalogue.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/draw/draw.h"
#include "demos/record/schema.h"
#include "lessons/pages/page.h"
#include "lessons/pages/widgets.h"

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
// The estimate; empty if unknown.
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

  // A widget next to the figure takes its part of `rect`; if nothing is left, the figure is hidden.
  virtual void draw(PageFrame& frame, Rect& rect) = 0;

  // Drawn after the picture, for controls on the rows that it leaves free.
  virtual void draw_over(PageFrame& /*frame*/, const Rect& /*picture*/) {}

  // Narrow pages: height below the figure in px at scale 1; with less, the widget is one line.
  virtual float narrow_height() const { return 34; }
  virtual void draw_narrow(PageFrame& frame, Rect rect) { draw(frame, rect); }

  virtual std::vector<OfferedParam> offers(const PageFrame& /*frame*/) const { return {}; }

  virtual bool running() const { return false; }
  // True if anything changed.
  virtual bool poll() { return false; }
};

struct WidgetHost {
  page::PageModel& page;
  SweepEngines& engines;
};

template <class View>
std::unique_ptr<WidgetView> make_view(const WidgetHost& host) {
  return std::make_unique<View>(host);
}

struct Widget {
  const lessons::WidgetInfo* info;
  Slot slot;
  std::unique_ptr<WidgetView> (*make)(const WidgetHost& host);
};
extern const Widget kCalculatorWidget, kKernelEditorWidget, kLadderWidget, kReportWidget, kSettingsWidget, kSweepWidget;
std::span<const Widget* const> widgets();

class PageWidgets {
 public:
  PageWidgets(const lessons::Page& page, const WidgetHost& host);

  // Widgets of the slot, in the page's order.
  std::vector<WidgetView*> in(Slot slot) const;
  // Null if there is none.
  WidgetView* among_words(std::string_view id) const;
  // Null if there is none.
  template <class View>
  View* find() const {
    for (const Made& each : made_)
      if (auto* found = dynamic_cast<View*>(each.view.get())) return found;
    return nullptr;
  }

  // True if the page has Run, whose result can be predicted, and no sweep runs.
  bool run_button() const { return !start_runs() && !running() && any(&lessons::WidgetInfo::runs_step); }
  bool sweep_button() const { return any(&lessons::WidgetInfo::runs_sweep); }
  bool start_runs() const { return any(&lessons::WidgetInfo::starts_runs); }
  bool have_figure_params() const { return any(&lessons::WidgetInfo::calculates); }
  bool edit(std::string_view key) const {
    return any([&](const lessons::WidgetInfo& info) { return !key.empty() && info.edits == key; });
  }
  std::string_view empty_reason() const;
  std::vector<OfferedParam> offers(const PageFrame& frame) const;
  bool running() const {
    return std::ranges::any_of(made_, [](const Made& each) { return each.view->running(); });
  }
  bool poll();

 private:
  struct Made {
    const Widget* widget;
    std::unique_ptr<WidgetView> view;
  };
  template <class Is>
  bool any(const Is& is) const {
    return std::ranges::any_of(made_, [&](const Made& each) { return std::invoke(is, *each.widget->info); });
  }

  std::vector<Made> made_;                                    // widgets of the slots first
  std::map<std::string, WidgetView*, std::less<>> of_words_;  // by id
};

}  // namespace headroom::app::window
