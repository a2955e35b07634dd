// The source of a kernel that the reader writes, with line numbers and the lines that the compiler objects to; and what
// became of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/window/views/page_frame.h"
#include "app/window/widgets/widget.h"
#include "demos/record/kernel_report.h"

namespace headroom::app::window {

class KernelEditor final : public WidgetView {
 public:
  Slot slot() const override { return Slot::kBesideFigure; }
  // Takes all of a low rectangle, unless the reader looks at the figure instead.
  void draw(PageFrame& frame, Rect& rect) override;
  bool edits(std::string_view key) const override { return key == "source"; }

  // What is in the editor now.
  const std::string& text() const { return text_; }
  // Lines with an error in the source as it was compiled last; none once that source was changed.
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
  std::map<std::string, std::string> own_;  // what the reader has written, by exercise
  bool figure_face_ = false;                // where there is no room for both, the figure is looked at
  bool solution_ = false;                   // the editor shows one way to do it, not the reader's
  float scroll_y_ = 0;                      // of the source, in the frame before
  std::int64_t go_to_ = 0;                  // a line to scroll to; 0: none
  std::optional<record::KernelReport> report_;
  bool report_fits_ = false;  // it is about the source that is in the editor
};

}  // namespace headroom::app::window
