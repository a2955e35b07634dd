// The list of runs: machine, settings, peak and time.
#include "app/window/views/views.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/common/summary.h"
#include "app/page/page_model.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

using page::RunOnShow;

constexpr float kArrow = 24;  // px of an arrow-only list
constexpr float kListRow = 32, kRunsPadding = 8, kListGap = 20;
constexpr float kCheck = 30, kForget = 64;  // px before and after the columns

float width_of(const std::string& words) { return text_width(Face::kRegular, 12, words) + px(36); }
std::string count_of_runs(const page::PageModel& page) { return fmt::format("{} runs", page.runs().all().size()); }

struct Line {
  std::string where, how, peak, time;
};

Line line_of(const RunOnShow& run) {
  Line line{.where = run.where, .how = run.label, .peak = {}, .time = {}};
  if (const auto step = record::last_whole_step(*run.recording))
    line.peak = record::format_bytes(run.ledger->peak(step->first, step->last).totals.allocated);
  else if (run.recording->outcome() && run.recording->outcome()->out_of_memory)
    line.peak = "out of memory";
  if (const auto time = over_steps(*run.recording, record::MetricKind::kStepNanoseconds))
    line.time = record::format_duration(static_cast<record::Nanoseconds>(time->value)) + " per step";
  return line;
}

// The reader's own runs can be forgotten. True if a run was chosen or forgotten.
bool draw_row(page::PageModel& page, int index, const Line& line, const Line& widest, const Rect& row) {
  const RunOnShow& run = page.runs().all()[static_cast<std::size_t>(index)];
  const bool current = index == page.runs().shown() && !page.shows_prediction();
  Rect body = row;
  const Rect forget = body.cut_right(px(kForget));
  const Hit over = hit("run", body);
  if (over.hovered) fill(body, theme().state.hover, 6);
  if (over.focused) outline(body, theme().focus, 6, 2);
  if (current) draw_icon(Icon::kCheck, row.x0 + px(16), row.center_y(), theme().text, 14);
  const Face face = current ? Face::kSemiBold : Face::kMedium;
  float x = row.x0 + px(kCheck);
  const auto column = [&](const std::string& text, const std::string& longest, Face of, float align) {
    const Rect cell{x, row.y0, x + text_width(Face::kSemiBold, 13, longest), row.y1};
    text_in(of, 13, cell, theme().text, text, align);
    x = cell.x1 + px(kListGap);
  };
  column(line.where, widest.where, Face::kSemiBold, 0);
  column(line.how, widest.how, face, 0);
  column(line.peak, widest.peak, face, 1);
  column(line.time, widest.time, face, 1);
  const ButtonText text{"Forget", Icon::kNone, "", "Remove this run and delete its file"};
  if (run.is_readers() && button("forget", forget.inset(px(2), px(3)), text, ButtonKind::kGhost)) {
    page.forget(index);
    return true;
  }
  if (over.clicked) page.show_run(index);
  return over.clicked;
}

void draw_list(page::PageModel& page, const Rect& anchor) {
  std::vector<Line> lines;
  Line widest;
  const auto keep_wider = [](std::string& most, const std::string& text) {
    if (text_width(Face::kSemiBold, 13, text) > text_width(Face::kSemiBold, 13, most)) most = text;
  };
  for (const RunOnShow& run : page.runs().all()) {
    const Line& line = lines.emplace_back(line_of(run));
    keep_wider(widest.where, line.where);
    keep_wider(widest.how, line.how);
    keep_wider(widest.peak, line.peak);
    keep_wider(widest.time, line.time);
  }
  float width = px(kCheck + kForget + 2 * kRunsPadding + 4 * kListGap);
  for (const std::string* text : {&widest.where, &widest.how, &widest.peak, &widest.time})
    width += text_width(Face::kSemiBold, 13, *text);
  const float height = px(kListRow) * static_cast<float>(lines.size()) + px(2 * kRunsPadding);
  if (!begin_popup("run list", popup_place(anchor, {width, height}), kRunsPadding)) return;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    const float y = from.y + px(kListRow) * static_cast<float>(i);
    ImGui::PushID(i);
    const bool done = draw_row(page, i, lines[static_cast<std::size_t>(i)], widest,
                               {from.x, y, from.x + width - px(2 * kRunsPadding), y + px(kListRow)});
    ImGui::PopID();
    if (!done) continue;
    ImGui::CloseCurrentPopup();
    break;
  }
  end_popup();
}

}  // namespace

bool runs_to_choose(const page::PageModel& page) {
  return page.figures().shown().basis != lessons::Basis::kParameters && page.on_show() != nullptr &&
         page.runs().all().size() > (page.shows_prediction() ? 0U : 1U) && !page.question().hides();
}

float run_choice_width(const page::PageModel& page) { return width_of(count_of_runs(page)); }

// If narrow, shows only the number of runs or the arrow, with the words in the tooltip.
void draw_run_choice(PageFrame& frame, const Rect& rect) {
  page::PageModel& page = frame.page;
  const RunOnShow& run = *page.on_show();
  // A prediction has no machine.
  const std::string label = page.shows_prediction() ? run.label : run.words();
  const bool room = rect.width() >= px(220);
  std::string shown = room ? shortened(Face::kRegular, 12, label, rect.width() - px(36)) : count_of_runs(page);
  const bool arrow_only = width_of(shown) > rect.width();
  if (arrow_only) shown.clear();
  const float width_shown = arrow_only ? px(kArrow) : width_of(shown);
  const Rect at{rect.x0, rect.center_y() - px(14), rect.x0 + width_shown, rect.center_y() + px(14)};
  const Hit state = hit("runs", at);
  if (state.hovered) fill(at, theme().state.hover, 6);
  if (state.focused) focus_ring(at, 6);
  text_in(Face::kRegular, 12, {at.x0 + px(8), at.y0, at.x1, at.y1}, theme().text2, shown);
  draw_icon(Icon::kChevronDown, at.x1 - px(14), at.center_y(), theme().text2, 14);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    tooltip(shown == label ? "Show another run" : label + ". Show another run");
  if (state.clicked) ImGui::OpenPopup("run list");
  draw_list(page, at);
}

}  // namespace headroom::app::window
