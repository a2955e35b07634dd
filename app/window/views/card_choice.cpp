// The choice of the card, with a search and any other size.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/page/words/finder.h"
#include "app/window/draw/controls.h"
#include "app/window/views/views.h"

namespace headroom::app::window {

namespace {

constexpr float kRow = 32, kPadding = 6, kListWidth = 320, kListHeight = 380;  // px at scale 1

struct ListedCard {
  std::string name;
  const predict::Card* card = nullptr;  // null: the page's own
};

std::string own_card_name(const page::PageModel& page) {
  if (page::chosen_card(page) != nullptr) return page.settings().has("device") ? "The page's own GPU" : "24 GiB";
  const auto on = page.settings().has("device") ? page::card_of(page) : std::nullopt;
  return on ? on->name : "24 GiB";
}

std::string name_of(const predict::Card& card) {
  const std::string size = record::format_bytes(*card.memory, 0);
  return &card == &predict::card_of_size(*card.memory) ? card.name : fmt::format("{}, {}", card.name, size);
}

// "20" and "20 GB" are sizes in GiB, as cards are sold.
std::optional<record::Bytes> size_in(const std::string& typed) {
  const std::size_t end = typed.find_first_not_of("0123456789. ");
  const std::string unit = page::in_small_letters(end == std::string::npos ? "" : typed.substr(end));
  if (!record::is_one_of(unit, "|g|gb|gib")) return std::nullopt;
  const auto size = record::parse_bytes(typed.substr(0, end) + "GiB");
  const bool usual = size && size.value() >= record::kGiB && size.value() <= 1024 * record::kGiB;
  return usual ? std::optional(size.value()) : std::nullopt;
}

// The page's own card, then all cards with known memory that have the typed words, then a typed size.
std::vector<ListedCard> list_of(const page::PageModel& page, const std::string& typed) {
  std::vector<ListedCard> list;
  const std::string words = page::in_small_letters(typed);
  if (words.empty()) list.push_back({own_card_name(page), nullptr});
  for (const predict::Card& card : predict::cards())
    if (card.memory && page::in_small_letters(name_of(card)).find(words) != std::string::npos)
      list.push_back({name_of(card), &card});
  if (const auto size = size_in(typed))
    list.push_back({"Other: " + record::format_bytes(*size), &predict::card_of_size(*size)});
  return list;
}

void draw_list(PageFrame& frame, const Rect& anchor) {
  page::PageModel& page = frame.page;
  const Rect place = popup_place(anchor, {px(kListWidth), px(kListHeight)});
  if (!begin_popup("cards", place, kPadding)) return;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = place.width() - px(2 * kPadding);
  Rect column{from.x, from.y, from.x + width, from.y};
  const auto row = [&] {
    column.y1 = column.y0 + px(kRow);
    return column.cut_top(px(kRow));
  };
  const bool opened = ImGui::IsWindowAppearing();
  if (opened) frame.state.sizing.card_search.clear();
  const bool entered =
      text_field("card search", row(), frame.state.sizing.card_search, "", opened, "Search, or a size: 20 GiB");
  const std::vector<ListedCard> list = list_of(page, frame.state.sizing.card_search);
  const predict::Card* const chosen = page::chosen_card(page);
  const ListedCard* picked = entered && enter_pressed() && !list.empty() ? &list.front() : nullptr;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Rect at = row();
    ImGui::PushID(static_cast<int>(i));
    const Hit state = hit("card option", at);
    ImGui::PopID();
    if (state.hovered || state.focused) fill(at, theme().state.hover, 6);
    if (list[i].card == chosen) draw_icon(Icon::kCheck, at.x0 + px(14), at.center_y(), theme().text, 14);
    const Face face = list[i].card == chosen ? Face::kSemiBold : Face::kMedium;
    text_fit(face, 13, {at.x0 + px(30), at.y0, at.x1 - px(8), at.y1}, theme().text, list[i].name);
    if (state.clicked) picked = &list[i];
  }
  if (list.empty()) text_in(Face::kRegular, 12, row().inset(px(10), 0), theme().text2, "No card has this name.");
  if (picked != nullptr) {
    page.choose_card(picked->card);
    ImGui::CloseCurrentPopup();
  }
  ImGui::SetCursorScreenPos(from);
  ImGui::Dummy({width, column.y0 - from.y});
  end_popup();
}

std::string shown_name(const page::PageModel& page) {
  const predict::Card* const chosen = page::chosen_card(page);
  return chosen == nullptr ? own_card_name(page) : name_of(*chosen);
}

}  // namespace

float card_choice_width(const page::PageModel& page) {
  return text_width(Face::kMedium, 13, shown_name(page)) + px(40);
}

void draw_card_button(PageFrame& frame, const Rect& at) {
  const Hit state = hit("card", at);
  fill(at, state.held ? theme().state.active : state.hovered ? theme().state.hover : theme().card, 6);
  outline(at, theme().control, 6);
  text_in(Face::kMedium, 13, {at.x0 + px(10), at.y0, at.x1 - px(26), at.y1}, theme().text,
          shortened(Face::kMedium, 13, shown_name(frame.page), at.width() - px(36)));
  draw_icon(Icon::kChevronDown, at.x1 - px(14), at.center_y(), theme().text2, 14);
  if (state.focused) focus_ring(at, 6);
  if (state.clicked) ImGui::OpenPopup("cards");
  draw_list(frame, at);
}

float draw_card_choice(PageFrame& frame, const Rect& row) {
  const page::PageModel& page = frame.page;
  const bool runs = page.settings().has("device");
  if (const auto on = runs ? page::card_of(page) : std::nullopt;
      on && page::device_of(page) == record::DeviceKind::kCpu) {
    const std::string words = page.settings().integer("cap") > 0
                                  ? "under " + on->name
                                  : fmt::format("of {} on {}", record::format_bytes(on->memory, 0), on->name);
    text_in(Face::kRegular, 12, row, theme().text2, words, 1);
    return row.x1 - text_width(Face::kRegular, 12, words) - px(12);
  }
  const float width = std::min(card_choice_width(page), row.width() * 0.4f);
  draw_card_button(frame, {row.x1 - width, row.center_y() - px(15), row.x1, row.center_y() + px(15)});
  return row.x1 - width - px(12);
}

}  // namespace headroom::app::window
