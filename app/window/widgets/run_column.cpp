// Run, its estimate, and the run to compare with.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

namespace {

// "0.7 s left"
std::string time_left(record::Nanoseconds left) {
  if (left < 0) return {};
  const double seconds = static_cast<double>(left) * 1e-9;
  return seconds < 90 ? fmt::format("{:.1f} s left", seconds) : fmt::format("{:.0f} min left", seconds / 60);
}

void draw_progress(const backend::RunProgress& progress, Rect rect) {
  rect.cut_top(px(8));
  progress_bar(rect.cut_top(px(4)), static_cast<float>(progress.fraction));
  rect.cut_top(px(6));
  const Rect line = rect.cut_top(px(18));
  text_in(Face::kMedium, 12, line, theme().text, fmt::format("{:.0f} %", progress.fraction * 100));
  text_in(Face::kRegular, 12, line, theme().text2, time_left(progress.time_left), 1);
}

void draw_small_pin(PageFrame& frame, const Rect& rect) {
  page::PageModel& page = frame.page;
  const bool pinned = page.run_a().pinned() != nullptr;
  const ButtonText pin{"", Icon::kPin, "", pinned ? "Stop comparing (C)" : "Keep this run as A and compare (C)"};
  if (button("pin", rect, pin, ButtonKind::kSecondary, pinned || page::can_pin(page))) page::toggle_pin(page);
}

void draw_pin_button(PageFrame& frame, const Rect& rect) {
  page::PageModel& page = frame.page;
  const ButtonText pin{"Pin as A", Icon::kPin, "C", "Keep this run as A: its line stays behind the runs shown next"};
  const ButtonText unpin{"Unpin A", Icon::kPin, "C", "Stop comparing"};
  if (button("pin", rect, page.run_a().pinned() == nullptr ? pin : unpin)) page::toggle_pin(page);
}

// Returns the left edge.
float draw_way_back(PageFrame& frame, const Rect& label) {
  constexpr std::string_view kWords = "Back to the page's run";
  const Rect at{label.x1 - text_width(Face::kMedium, 12, kWords), label.y0, label.x1, label.y1};
  const Hit state = hit("back to begin", at);
  text_in(Face::kMedium, 12, at, state.hovered ? theme().text : theme().text2, kWords);
  horizontal_line(at.x0, at.x1, at.center_y() + px(8), theme().control);
  if (state.focused) focus_ring(at, 4);
  if (state.clicked) frame.page.show_run(0);
  return at.x0;
}

// The reason takes Run's place, above the pin.
void draw_no_run(PageFrame& frame, const Rect& label, Rect rect) {
  page::PageModel& page = frame.page;
  if (page::left_the_begin(page))
    draw_way_back(frame, label);
  else
    text_in(Face::kSemiBold, 12, label, theme().text, "No engine");
  if (page.run_a().pinned() != nullptr || page::can_pin(page)) {
    const Rect pin = rect.cut_bottom(px(32));
    rect.cut_bottom(px(4));
    draw_pin_button(frame, pin);
  }
  draw_no_engine(frame, rect, page::left_the_begin(page) ? "No engine. " : "");
}

// "0.2 of 21.6 GiB"; empty if unknown, hidden, or the question's answer.
std::string needs_words(const PageFrame& frame) {
  const auto needs = page::needs_of(frame.page);
  if (!needs || !frame.ui.free_memory) return {};
  const auto in = [](record::Bytes bytes) { return static_cast<double>(bytes) / double{record::kGiB}; };
  return fmt::format("{:.{}f} of {:.1f} GiB", in(needs->bytes), in(needs->bytes) < 0.95 ? 2 : 1, in(needs->of));
}

// "Run again, about 4 s": the verb, with the estimate if both fit into the button.
std::string with_estimate(std::string_view verb, std::string_view shorter, const std::string& estimate, float width) {
  constexpr float kSpare = 12;  // px of the button's padding
  if (!estimate.empty())
    for (const std::string_view each : {verb, shorter}) {
      std::string words = fmt::format("{}, {}", each, estimate);
      if (button_width({words, Icon::kPlay}) - px(kSpare) <= width) return words;
    }
  return std::string(verb);
}

constexpr float kWhyEm = 12, kWhyLine = 1.25f;

float height_of_why(std::string_view words, float width) {
  return paragraph(Face::kRegular, kWhyEm, kWhyLine, {0, 0, width, 0}, {}, words, false);
}

std::string fitted(std::string_view text, const Rect& rect) {
  std::string words(text);
  while (height_of_why(words, rect.width()) > rect.height() + 1) {
    const std::size_t blank = std::string_view(words).substr(0, words.size() - 1).rfind(' ');
    if (blank == std::string::npos) break;
    words.resize(blank);
    words += "…";
  }
  return words;
}

// Run or, during a run, Cancel.
void draw_run_button(PageFrame& frame, const Rect& at) {
  const page::RunControl& control = frame.page.control();
  if (control.running()) {
    if (button("cancel", at, {"Cancel", Icon::kStop, "Esc"}, ButtonKind::kSecondary, !control.cancelling()))
      frame.page.control().cancel();
    return;
  }
  const bool stored = !control.fixed_settings().empty();
  const std::string why_tiny = page::why_not_here(frame.page);
  const bool tiny = !why_tiny.empty();
  // In a column, the way back takes the estimate's place above the button.
  const std::string estimate = page::left_the_begin(frame.page) ? estimate_words(frame.page) : std::string();
  const bool with_key = frame.density == Density::kWide && !tiny && estimate.empty();
  const std::string verb = stored                       ? "Play"
                           : tiny                       ? with_estimate("Run tiny here", "Tiny", estimate, at.width())
                           : frame.state.asked.run      ? "Run, " + estimate_words(frame.page) + "?"
                           : page::ran_here(frame.page) ? with_estimate("Run again", "Run", estimate, at.width())
                                                        : with_estimate("Run", "Run", estimate, at.width());
  const std::string runs_tiny = why_tiny + ": the tiny model runs the same step on this CPU (Ctrl R)";
  const std::string_view why = control.busy_elsewhere() ? "Another page's run is active: wait for it, or cancel it "
                                                          "there"
                               : stored                 ? std::string_view(control.fixed_settings())
                               : tiny                   ? std::string_view(runs_tiny)
                               : with_key               ? ""
                                                        : "Ctrl R";
  const ButtonText run{verb, Icon::kPlay, with_key ? "Ctrl R" : "", why};
  if (button("run", at, run, ButtonKind::kPrimary, page::can_run(frame.page))) start_run(frame);
}

// The words above Run in a column: progress, the way back, or the estimate. Returns the left edge.
float draw_run_words(PageFrame& frame, const Rect& row) {
  const bool running = frame.page.control().running();
  if (page::left_the_begin(frame.page) && !running) return draw_way_back(frame, row);
  std::string words = estimate_words(frame.page);
  if (const backend::RunProgress* const progress = frame.page.control().progress(); running && progress != nullptr) {
    words = fmt::format("{:.0f} %", progress->fraction * 100);
    if (const std::string left = time_left(progress->time_left); !left.empty()) words += ", " + left;
  }
  text_in(Face::kRegular, 12, row, theme().text2, words, 1);
  return row.x1 - text_width(Face::kRegular, 12, words);
}

}  // namespace

void draw_run_line(PageFrame& frame, Rect& row) {
  if (!frame.page.control().running() && !page::why_no_engine(frame.page).empty()) {
    draw_no_engine(frame, row.cut_right(std::round(row.width() * 0.4f)));
  } else {
    draw_run_button(frame, row.cut_right(px(run_column_width(frame.density))));
    row.cut_right(px(12));
  }
  row.x1 = draw_run_words(frame, row) - px(12);
}

void draw_no_engine(const PageFrame& frame, Rect rect, std::string_view head) {
  const std::string why = std::string(head) + page::why_no_engine(frame.page);
  const std::string shown = fitted(why, rect);
  constexpr float kLineOfControls = 40;
  if (rect.height() < px(kLineOfControls)) rect.y0 += (rect.height() - height_of_why(shown, rect.width())) * 0.5f;
  paragraph(Face::kRegular, kWhyEm, kWhyLine, rect, theme().text2, shown);
  if (shown != why && pointed(rect)) tooltip(why);
}

void draw_pin(PageFrame& frame, Rect rect) {
  page::PageModel& page = frame.page;
  if (page.run_a().pinned() == nullptr && !page::can_pin(page)) return;
  text_in(Face::kMedium, 12, rect.cut_top(px(kLabelHeight)), theme().text2, "Compare");
  draw_pin_button(frame, rect.top(px(32)));
}

void draw_run(PageFrame& frame, Rect rect, bool with_pin) {
  const page::RunControl& control = frame.page.control();
  const Rect label = rect.cut_top(px(kLabelHeight));
  Rect at = rect.cut_top(px(32));
  rect.cut_top(px(kCellGap));
  if (control.running()) {
    text_in(Face::kMedium, 12, label, theme().text2, control.cancelling() ? "Cancelling" : "Running");
    draw_run_button(frame, at);
    // Null if this click has ended the run.
    if (const backend::RunProgress* progress = control.progress()) draw_progress(*progress, rect);
    return;
  }
  if (!page::why_no_engine(frame.page).empty()) return draw_no_run(frame, label, {at.x0, at.y0, rect.x1, rect.y1});
  const bool stored = !control.fixed_settings().empty();
  const bool with_name = !page::left_the_begin(frame.page);
  const std::string needs = needs_words(frame);
  const bool too_much = !needs.empty() && page::needs_of(frame.page)->bytes > page::needs_of(frame.page)->of;
  const float beside = text_width(Face::kRegular, 12, estimate_words(frame.page)) + px(8);
  const std::string_view name = stored ? "Stored run" : "This machine";
  const bool room = text_width(Face::kMedium, 12, name) + beside <= label.width();
  if (with_name && needs.empty() && room)
    text_in(Face::kMedium, 12, label, theme().text2, name);
  else if (with_name)
    text_in(Face::kRegular, 12, label, too_much ? theme().danger : theme().text2, needs);
  if (with_name && !needs.empty() && ImGui::IsMouseHoveringRect(upper_left(label), lower_right(label)))
    tooltip("Predicted memory of the run, out of the memory that is free here");
  if (stored && ImGui::IsMouseHoveringRect(upper_left(label), lower_right(label))) tooltip(control.fixed_settings());
  if (page::left_the_begin(frame.page))
    draw_way_back(frame, label);
  else
    text_in(Face::kRegular, 12, label, theme().text3, estimate_words(frame.page), 1);
  if (frame.widgets.sweep_button()) {
    draw_small_pin(frame, at.cut_right(px(32)));
    at.cut_right(px(6));
  }
  draw_run_button(frame, at);
  if (with_pin && !frame.widgets.sweep_button()) draw_pin(frame, rect);
}

std::string estimate_words(const page::PageModel& page) { return seconds_words(page::estimated_seconds(page)); }

std::string seconds_words(std::optional<double> seconds) {
  if (!seconds) return {};
  return *seconds < 90 ? fmt::format("about {:.0f} s", std::max(1.0, *seconds))
                       : fmt::format("about {:.0f} min", *seconds / 60);
}

void start_run(PageFrame& frame) {
  constexpr double kStageBudget = 20;  // seconds that an audience waits
  if (frame.ui.stage) return frame.page.run(frame.now, kStageBudget);
  const bool asks = page::estimated_seconds(frame.page).value_or(0) > kLongRun;
  if (!asks || std::exchange(frame.state.asked.run, false))
    frame.page.run(frame.now);
  else
    frame.state.asked.run = page::can_run(frame.page);
}

}  // namespace headroom::app::window
