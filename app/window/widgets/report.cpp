// The report's experiment: its two sizes, Run, and the command that keeps its results.

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "app/common/sweep_plan.h"
#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/sweep_run.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

namespace {

constexpr SweepWords kReportWords{.run = "Run the report",
                                  .does = "Runs every point of the three strategies on this machine",
                                  .point = "Point",
                                  .stored = "the stored reports"};

// Empty if there is a GPU, or if no engine has answered yet.
std::string no_gpu(const page::PageModel& page) {
  const backend::Backend* const backend = page.control().backend();
  if (backend == nullptr || backend->devices().empty()) return {};
  return page::has_gpu(backend) ? std::string() : "There is no GPU here: the tiny model runs on the CPU.";
}

class ReportView final : public WidgetView {
 public:
  explicit ReportView(const WidgetHost& host) : sweep_(host.engines, host.page) {}

  void draw(PageFrame& frame, Rect& rows) override;
  float narrow_height() const override { return 96; }
  void draw_narrow(PageFrame& frame, Rect rect) override;
  bool running() const override { return sweep_.running(); }
  bool poll() override { return sweep_.poll(); }

 private:
  SweepRun sweep_;
  bool quick_ = true;
};

void ReportView::draw_narrow(PageFrame& frame, Rect rect) {
  if (rect.height() >= px(narrow_height())) {
    draw(frame, rect);
    return;
  }
  const std::string command(frame.page.page().command);
  text_fit(Face::kMono, 13, rect, theme().text, command);
}

void ReportView::draw(PageFrame& frame, Rect& rows) {
  Rect rect = rows;
  Rect run = rect.cut_right(px(run_column_width(frame.density)));
  rect.cut_right(px(run_column_gap(frame.density)));
  run.cut_top(px(kLabelHeight));

  text_in(Face::kMedium, 12, rect.cut_top(px(kLabelHeight)), theme().text2, "The whole experiment");
  const std::array<std::string, 2> sizes{"Tiny model, CPU", "Llama 3.2 1B, GPU"};
  const std::array<std::string, 2> refused{std::string(), no_gpu(frame.page)};
  if (!refused[1].empty()) quick_ = true;
  int size = quick_ ? 0 : 1;
  Rect line = rect.cut_top(px(32));
  if (segmented("report size", {line.x0, line.y0, line.x0 + segmented_width(sizes), line.y1}, sizes, size, refused))
    quick_ = size == 0 || !refused[1].empty();
  line.x0 += segmented_width(sizes) + px(12);
  // The plan's cap, 23.2 GiB, and 19.8·10⁹ B of host memory: docs/results/offload-h200.md.
  const std::string takes = quick_ ? "about a minute" : "a few minutes; 24 GB of the GPU, 20 GB of the host";
  text_fit(Face::kRegular, 12, line, theme().text2, takes);

  rect.cut_top(px(8));
  const std::string command = fmt::format("{}{}", frame.page.page().command, quick_ ? " --quick" : "");
  text_fit(Face::kMono, 12, rect.cut_top(px(18)), theme().text, command);
  const std::string keeps = "does the same, saves figures, tables and recordings, and resumes where it stopped.";
  text_fit(Face::kRegular, 12, rect.cut_top(px(18)), theme().text2, keeps);

  if (!sweep_.draw(frame, run, kReportWords)) return;
  const record::Params base = report_params(quick_);
  sweep_.start(plan_report(base, quick_));
}

}  // namespace

constinit const Widget kReportWidget{&lessons::kReportWidget, Slot::kBelowFigure, make_view<ReportView>};

}  // namespace headroom::app::window
