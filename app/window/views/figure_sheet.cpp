// A sheet over a figure with what its marks left out ("3 more rows"): the figure on a larger frame, or names in full.
#include <algorithm>
#include <string>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/views.h"

namespace headroom::app::window {

namespace {

constexpr const char* kSheet = "left out";
constexpr float kPadding = 12;  // px at scale 1

bool leaves_out(const paint::Scene& scene, std::string_view what) {
  return std::ranges::any_of(scene.more, [&](const paint::MoreMark& mark) { return mark.what == what; });
}

}  // namespace

// Columns need a wider frame, all else a higher one. Names of kinds too thin to be seen fit no frame.
void FigureCard::open_sheet(PageFrame& frame, const lessons::FigureData& figure, const paint::MoreMark& mark,
                            ImVec2 size) {
  constexpr float kGrowth = 1.5f;
  constexpr int kTries = 5;
  sheet_.what = mark.what;
  sheet_.names = mark.names;
  sheet_.revision = frame.page.figures().revision();
  for (int i = 0; i < kTries; ++i) {
    paint::Frame larger = frame_of(frame, size);
    larger.parts.rungs = true;
    larger.parts.search = false;
    sheet_.scene = paint::layout(figure, larger);
    if (!leaves_out(sheet_.scene, mark.what)) return;
    (mark.what == "column" ? size.x : size.y) *= kGrowth;
  }
  sheet_.scene = {};
}

void FigureCard::draw_marks(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const float inset = px(2 * kPadding) + ImGui::GetStyle().ScrollbarSize;
  const ImVec2 size{rect.width() - inset, rect.height() - inset};
  for (std::size_t i = 0; i < scene_.more.size(); ++i) {
    const paint::MoreMark& mark = scene_.more[i];
    const Rect at = mark.rect.moved({rect.x0, rect.y0});
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetNextItemAllowOverlap();
    const Hit state = hit("left out", at);
    ImGui::PopID();
    horizontal_line(at.x0, at.x1, at.y1 - px(1), state.hovered ? theme().text : theme().control);
    if (state.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (state.focused) focus_ring(at, 4);
    if (!state.clicked) continue;
    open_sheet(frame, figure, mark, size);
    ImGui::OpenPopup(kSheet);
  }
  if (!begin_popup(kSheet, rect, kPadding)) return;
  if (sheet_.revision != frame.page.figures().revision())
    open_sheet(frame, figure, paint::MoreMark{{}, sheet_.what, sheet_.names.size(), sheet_.names}, size);
  draw_sheet();
  end_popup();
}

void FigureCard::draw_sheet() const {
  if (sheet_.scene.items.empty()) {
    for (const std::string& name : sheet_.names) put_words(Face::kRegular, 13, 1.5f, theme().text, name);
    return;
  }
  if (ImGui::BeginChild("sheet", {0, 0}, ImGuiChildFlags_None, ImGuiWindowFlags_HorizontalScrollbar)) {
    const ImVec2 from = ImGui::GetCursorScreenPos(), mouse = ImGui::GetIO().MousePos;
    paint_scene(*canvas(), sheet_.scene, from);
    ImGui::Dummy({sheet_.scene.width, sheet_.scene.height});
    if (ImGui::IsWindowHovered())
      for (const paint::HitArea& area : sheet_.scene.hits)
        if (!area.tip.empty() && area.rect.contains({mouse.x - from.x, mouse.y - from.y})) tooltip(area.tip);
  }
  ImGui::EndChild();
}

}  // namespace headroom::app::window
