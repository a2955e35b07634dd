// The editor for the reader's kernel, with line numbers, lines with errors, and the report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/window/views/page_frame.h"
#include "app/window/widgets/widget.h"
#include "demos/record/rows/kernel_report.h"

namespace headroom::app::window {

class KernelEditor final : public WidgetView {
 public:
  // Takes all of a low rectangle, unless the reader looks at the figure.
  void draw(PageFrame& frame, Rect& rect) override;

  const std::string& text() const { return text_; }
  // Error lines of the last compilation; none once the source has changed.
  std::vector<std::int64_t> marked_lines() const;

 private:
  void follow(page::PageModel& page);
  void draw_editor(PageFrame& frame, const Rect& head, Rect rect);
  void draw_head(PageFrame& frame, Rect rect);
  void draw_source(PageFrame& frame, const Rect& rect);
  void draw_lines(const Rect& gutter, const Rect& source, float line_height) const;
  void draw_report(const PageFrame& frame, const Rect& rect);

  std::string exercise_;
  std::string text_;
  std::map<std::string, std::string> own_;  // the reader's sources, by exercise
  bool figure_face_ = false;
  bool solution_ = false;
  float scroll_y_ = 0;      // of the source, in the last frame
  std::int64_t go_to_ = 0;  // line to scroll to; 0: none
  std::optional<record::KernelReport> report_;
  bool report_fits_ = false;  // the report is about the current source
};

}  // namespace headroom::app::window
