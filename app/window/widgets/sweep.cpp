// A page's sweep over its settings: Run, progress and Stop.
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/page/page_facts.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/sweep_run.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

namespace {

class SweepView final : public WidgetView {
 public:
  explicit SweepView(const WidgetHost& host) : sweep_(host.engines, host.page) {}

  void draw(PageFrame& frame, Rect& rows) override;
  void draw_narrow(PageFrame& frame, Rect rect) override;
  bool running() const override { return sweep_.running(); }
  bool poll() override { return sweep_.poll(); }

 private:
  void draw_button(PageFrame& frame, const Rect& rect);

  SweepRun sweep_;
};

std::string label_of(const PageFrame& frame, std::string_view key) {
  for (const record::ParamSpec& spec : frame.page.settings().schema())
    if (spec.key == key) return std::string(spec.label);
  return std::string(key);
}

// "Keep every 1, 2, 4, 8"
std::string words_of(const PageFrame& frame, const experiments::SweepAxis& axis) {
  return fmt::format("{} {}", label_of(frame, axis.key), fmt::join(axis.values, ", "));
}

// Why the reader's settings do not use a swept parameter; empty if they do.
std::string why_not(const PageFrame& frame) {
  for (const experiments::SweepAxis& axis : frame.page.page().sweep)
    if (!frame.page.settings().in_use(axis.key))
      return fmt::format("The sweep varies {}, which has no effect with these settings.", label_of(frame, axis.key));
  return {};
}

void SweepView::draw_button(PageFrame& frame, const Rect& rect) {
  const lessons::Page& page = frame.page.page();
  std::string over;
  for (const experiments::SweepAxis& axis : page.sweep) over += (over.empty() ? "" : "; ") + words_of(frame, axis);
  const std::string does = "Runs the step on this machine for each of: " + over, refused = why_not(frame);
  const SweepWords words{.run = "Run sweep",
                         .does = does,
                         .point = "Point",
                         .stored = "the closed form",
                         .kind = ButtonKind::kSecondary,  // Run is the primary button
                         .refused = refused};
  if (!sweep_.draw(frame, rect, words)) return;
  sweep_.start(plan_over(frame.page.control().demo(), frame.page.settings(), page.sweep));
}

// Takes the lower half of Run's column, or all of it during the sweep.
void SweepView::draw(PageFrame& frame, Rect& rows) {
  if (frame.page.control().running()) return;            // Run's progress is there
  if (!page::why_no_engine(frame.page).empty()) return;  // the reason is there
  Rect column = rows.right(px(run_column_width(frame.density)));
  if (!sweep_.running()) column.cut_top(px(kCellHeight + kCellGap));
  const experiments::SweepAxis& axis = frame.page.page().sweep.front();
  const std::string over = sweep_.running() ? "Sweep" : fmt::format("Sweep over {}", label_of(frame, axis.key));
  const Rect label = column.cut_top(px(kLabelHeight));
  text_fit(Face::kMedium, 12, label, theme().text2, over);
  draw_button(frame, column);
}

void SweepView::draw_narrow(PageFrame& frame, Rect rect) {
  if (!frame.page.control().running() && page::why_no_engine(frame.page).empty())
    draw_button(frame, rect.right(px(kNarrowSweep)));
}

}  // namespace

constinit const Widget kSweepWidget{&lessons::kSweepWidget, Slot::kBelowFigure, make_view<SweepView>};

}  // namespace headroom::app::window
