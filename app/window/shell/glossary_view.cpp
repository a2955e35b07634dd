// The glossary.
#include "app/window/shell/finder_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/window/draw/controls.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

namespace {

constexpr float kGlossaryWidth = 640, kGlossaryPadding = 20, kGlossaryLine = 24;
constexpr std::size_t kFewPages = 6;

// `rest` becomes the room after the link. True if clicked.
bool page_link(const std::string& id, std::string_view title, Rect& rest, const Rect& whole) {
  const float room = whole.width();
  const std::string shown = shortened(Face::kMedium, 12, title, room);
  const float width = text_width(Face::kMedium, 12, shown);
  if (rest.x0 > whole.x0 && rest.x0 + width > whole.x1)
    rest = {whole.x0, rest.y0 + px(kGlossaryLine), whole.x1, rest.y1};
  const Rect at{rest.x0, rest.y0, rest.x0 + width, rest.y0 + px(kGlossaryLine)};
  rest.x0 = at.x1 + px(18);
  const Hit state = hit(id.c_str(), at);
  text_in(Face::kMedium, 12, at, state.hovered ? theme().text : theme().text2, shown);
  horizontal_line(at.x0, at.x1, std::round(at.center_y() + px(8)), state.hovered ? theme().ink : theme().control, 1);
  if (state.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (state.focused) focus_ring(at, 4);
  return state.clicked;
}

}  // namespace

const lessons::Page* GlossaryView::draw_pages(const page::GlossaryEntry& entry, Rect rect, float& bottom) {
  const lessons::Page* clicked = nullptr;
  Rect rest = rect;
  const bool folds = entry.pages.size() > kFewPages + 1 && unfolded_ != entry.key;
  const std::size_t shown = folds ? kFewPages : entry.pages.size();
  for (std::size_t i = 0; i < shown; ++i)
    if (page_link(entry.pages[i]->id, entry.pages[i]->title, rest, rect)) clicked = entry.pages[i];
  if (folds && page_link("all pages", fmt::format("and {} more", entry.pages.size() - shown), rest, rect))
    unfolded_ = entry.key;
  bottom = shown == 0 ? rect.y0 : rest.y0 + px(kGlossaryLine);
  return clicked;
}

const lessons::Page* GlossaryView::draw_entry(const page::GlossaryEntry& entry, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Rect rect{at.x, at.y, at.x + width, at.y + px(4000)};
  const Rect name = rect.cut_top(px(26));
  ImDrawList& list = *canvas();
  list.ChannelsSplit(2);
  list.ChannelsSetCurrent(1);
  float x = name.x0;
  if (const auto kind = lessons::category_of_term(entry.key)) {
    fill({x, name.center_y() - px(5), x + px(10), name.center_y() + px(5)}, theme().of(*kind).fill, 2);
    x += px(18);
  }
  text_in(Face::kSemiBold, 14, {x, name.y0, name.x1, name.y1}, theme().text, entry.name);
  rect.y0 = paragraph(Face::kRegular, 13, 1.5f, rect, theme().text, entry.text) + px(2);
  float bottom = rect.y0;
  ImGui::PushID(entry.key.c_str());
  const lessons::Page* const clicked = draw_pages(entry, rect, bottom);
  ImGui::PopID();
  list.ChannelsSetCurrent(0);
  if (entry.key == shown_) {
    const Rect mark{at.x - px(10), at.y - px(4), at.x + width + px(10), bottom + px(4)};
    fill(mark, theme().state.selected, 6);
    fill({mark.x0, mark.y0 + px(5), mark.x0 + px(3), mark.y1 - px(5)}, theme().ink, 1);
  }
  list.ChannelsMerge();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, bottom - at.y + px(14)});
  if (entry.key == shown_ && to_scroll_ > 0) --to_scroll_, ImGui::SetScrollHereY(0.3f);
  return clicked;
}

const lessons::Page* GlossaryView::draw(UiState& ui) {
  if (std::exchange(ui.open.glossary, false)) {
    ImGui::OpenPopup("glossary");
    shown_ = std::exchange(ui.glossary_term, {});
    unfolded_.clear();
    to_scroll_ = 2;  // the scroll range is known a frame later
  }
  const ImVec2 screen = ImGui::GetMainViewport()->Size;
  const float width = std::min(px(kGlossaryWidth), screen.x), height = std::round(screen.y * 0.84f);
  const float x = std::round((screen.x - width) * 0.5f), y = std::round((screen.y - height) * 0.5f);
  if (!begin_popup("glossary", {x, y, x + width, y + height}, kGlossaryPadding)) return nullptr;
  const float inner = width - px(2 * kGlossaryPadding) - ImGui::GetStyle().ScrollbarSize;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect head{at.x, at.y, at.x + inner, at.y + px(26)};
  text_in(Face::kSemiBold, 15, head, theme().text, "Glossary");
  text_in(Face::kRegular, 12, head, theme().text2, "Click a page to open it", 1);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({inner, px(36)});
  const lessons::Page* clicked = nullptr;
  for (const page::GlossaryEntry& entry : entries_)
    if (const lessons::Page* page = draw_entry(entry, inner)) clicked = page;
  if (clicked != nullptr) ImGui::CloseCurrentPopup();
  end_popup();
  return clicked;
}

}  // namespace headroom::app::window
