// The table of contents.
#include "app/window/shell/chrome.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

constexpr float kContentsRow = 26, kContentsPadding = 20, kContentsWidth = 720;

struct Row {
  std::string number;                   // "6.1"; "0" for the bench
  const lessons::Page* page = nullptr;  // null: the chapter's title
  const lessons::Chapter* chapter = nullptr;
};

std::vector<Row> rows_of(const lessons::Course& course) {
  std::vector<Row> rows;
  if (course.bench() != nullptr) rows.push_back({"0", course.bench()});
  for (const lessons::Chapter& chapter : course.chapters()) {
    rows.push_back({{}, nullptr, &chapter});
    for (std::size_t i = 0; i < chapter.pages.size(); ++i)
      rows.push_back({lessons::page_number(chapter, i), chapter.pages[i], &chapter});
  }
  return rows;
}

// "6.1" is a page, "6" the first page of its chapter; null: none.
const lessons::Page* page_numbered(std::span<const Row> rows, const std::string& typed) {
  for (const Row& row : rows)
    if (row.page != nullptr && (typed == row.number || (row.chapter != nullptr && typed == row.chapter->number)))
      return row.page;
  return nullptr;
}

void type_number(std::string& typed) {
  constexpr std::size_t kMost = 5;
  const auto type = [&](ImGuiKey key, ImGuiKey other, char character) {
    if ((ImGui::IsKeyPressed(key, false) || ImGui::IsKeyPressed(other, false)) && typed.size() < kMost)
      typed += character;
  };
  for (int i = 0; i <= 9; ++i)
    type(static_cast<ImGuiKey>(ImGuiKey_0 + i), static_cast<ImGuiKey>(ImGuiKey_Keypad0 + i),
         static_cast<char>('0' + i));
  type(ImGuiKey_Period, ImGuiKey_KeypadDecimal, '.');
  type(ImGuiKey_P, ImGuiKey_P, 'P');
  if (ImGui::IsKeyPressed(ImGuiKey_Backspace) && !typed.empty()) typed.pop_back();
}

}  // namespace

const lessons::Page* draw_contents(PageFrame& frame, const lessons::Course& course) {
  std::string& number = frame.ui.jump;
  if (frame.ui.open.contents) {
    number.clear();
    ImGui::OpenPopup("contents");
  }
  frame.ui.open.contents = false;
  const std::vector<Row> rows = rows_of(course);
  const std::size_t half = (rows.size() + 1) / 2;
  const float width = std::min(px(kContentsWidth), ImGui::GetMainViewport()->Size.x);
  if (!begin_centered_popup("contents", width, kContentsPadding, kContentsPadding)) return nullptr;
  type_number(number);
  const lessons::Page* choice = nullptr;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float column = (width - px(2 * kContentsPadding)) * 0.5f;
  const Rect head{at.x, at.y, at.x + 2 * column, at.y + px(kContentsRow)};
  text_in(Face::kSemiBold, 13, head, theme().text, "Contents");
  const std::string typed =
      number.empty() ? "Type a number such as 6.1, then Enter" : fmt::format("Page {}: Enter", number);
  text_in(Face::kRegular, 12, head, theme().text2, typed, 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const float x = at.x + (i < half ? 0 : column),
                y = head.y1 + px(kContentsRow) * static_cast<float>(i % half) + px(6);
    const Rect line{x, y, x + column - px(12), y + px(kContentsRow)};
    if (row.page == nullptr) {
      text_fit(Face::kSemiBold, 12, line, theme().text3, row.chapter->title);
      continue;
    }
    const bool here = row.page == &frame.page.page();
    ImGui::PushID(static_cast<int>(i));
    const Hit state = hit("jump", line);
    ImGui::PopID();
    if (state.hovered || here) fill(line, here ? theme().state.selected : theme().state.hover, 6);
    if (state.focused) focus_ring(line, 6);
    text_in(Face::kMedium, 12, {line.x0, line.y0, line.x0 + px(30), line.y1}, theme().text2, row.number, 1);
    const Rect words{line.x0 + px(38), line.y0, line.x1, line.y1};
    const std::string& title = row.page->title;
    text_in(here ? Face::kSemiBold : Face::kRegular, 13, words, theme().text,
            shortened(Face::kRegular, 13, title, words.width()));
    if (state.clicked) choice = row.page;
  }
  const bool enter = enter_pressed();
  if (enter && !number.empty()) choice = page_numbered(rows, number);
  if (choice != nullptr) ImGui::CloseCurrentPopup();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({2 * column, px(kContentsRow) * static_cast<float>(half + 1) + px(6)});
  end_popup();
  return choice;
}

}  // namespace headroom::app::window
