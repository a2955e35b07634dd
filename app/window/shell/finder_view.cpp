// The finder.
#include "app/window/shell/finder_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/page/link.h"
#include "app/page/page_model.h"
#include "app/page/words/finder_acts.h"
#include "app/window/draw/controls.h"
#include "app/window/widgets/widget.h"
#include "imgui_internal.h"  // SetKeyOwner: arrows move the choice, not the focus

namespace headroom::app::window {

namespace {

constexpr float kFinderWidth = 680, kFinderPadding = 12, kField = 36, kFinderRow = 30, kHint = 24,
                kTop = 0.1f;  // kTop: share of the window's height
constexpr std::size_t kMostRows = 12;

std::vector<page::Findable> settings_now(const PageFrame& frame) {
  std::vector<page::Findable> settings;
  if (frame.ui.stage) return settings;  // the stage shows no settings
  for (const auto& [of_figure, spec] : frame.widgets.offers(frame))
    settings.push_back({.kind = page::FoundKind::kSetting,
                        .title = std::string(spec->label),
                        .also = fmt::format("{} {} {}", spec->key, spec->group, spec->help),
                        .detail = std::string(spec->help),
                        .key = (of_figure ? "figure " : "") + std::string(spec->key)});
  return settings;
}

bool pressed(ImGuiKey key) {
  const ImGuiID owner = ImGui::GetID("found");
  ImGui::SetKeyOwner(key, owner);
  return ImGui::IsKeyPressed(key, ImGuiInputFlags_Repeat, owner);
}

void draw_words_around(const page::Found& found, const Rect& rect) {
  const auto width = [](Face face, std::string_view text) { return text_width(face, 12, text); };
  Rect rest = rect;
  rest.x0 = text_fit(Face::kRegular, 12, rest, theme().text2, found.before).x1;
  if (found.typed.empty()) return;
  const float end = std::min(rest.x1, rest.x0 + width(Face::kSemiBold, found.typed));
  text_fit(Face::kSemiBold, 12, rest, theme().text, found.typed);
  rest.x0 = end;
  if (rest.width() > px(8)) text_fit(Face::kRegular, 12, rest, theme().text2, found.after);
}

void draw_row(const page::Found& found, Rect row) {
  using Kind = page::FoundKind;
  row = row.inset(px(10), 0);
  const Rect kind = row.cut_left(px(64));
  text_in(Face::kRegular, 12, kind, theme().text3, page::name_of(found.what.kind));
  const bool text = found.what.kind == Kind::kText;
  const float most = row.width() * (text ? 0.4f : 0.75f);
  const bool gray = !found.what.why_not.empty();
  const std::string title = shortened(Face::kMedium, 13, found.what.title, most);
  row.x0 = text_in(Face::kMedium, 13, row, gray ? theme().disabled : theme().text, title).x1 + px(12);
  if (text) return draw_words_around(found, row);
  const bool keys = found.what.kind == Kind::kCommand || gray;
  if (row.width() > px(24))
    text_fit(Face::kRegular, 12, row, keys ? theme().text2 : theme().text3,
             gray ? found.what.why_not : found.what.detail, 1);
}

}  // namespace

void FinderView::open(const PageFrame& frame, std::span<const lessons::Page* const> read) {
  now_ = settings_now(frame);
  for (page::Findable& command : commands_now(frame)) now_.push_back(std::move(command));
  here_ = &frame.page.page();
  typed_.clear();
  search(frame, read);
  ImGui::OpenPopup("finder");
}

void FinderView::search(const PageFrame& frame, std::span<const lessons::Page* const> read) {
  searched_ = typed_;
  chosen_ = first_ = 0;
  picked_ = false;
  if (page::is_link(typed_)) {
    found_ = {{{.kind = page::FoundKind::kLink, .title = typed_, .detail = "opens it", .key = typed_}, {}, {}, {}}};
    return;
  }
  const std::vector<page::Findable> acts = page::acts_for(typed_, frame.page);
  found_ = finder_.find(typed_, {.also = now_, .acts = acts, .here = here_, .read = read});
}

const page::Findable* FinderView::on_enter() const {
  if (chosen_ >= found_.size()) return nullptr;
  const page::Findable& what = found_[chosen_].what;
  const bool leaves_unasked = what.kind == page::FoundKind::kText && what.page != here_ && !picked_;
  return what.why_not.empty() && !leaves_unasked ? &what : nullptr;
}

std::string_view FinderView::hint() const {
  const page::Findable* const what = on_enter();
  if (what == nullptr) return "↑ ↓ choose   Esc closes";
  return what->kind == page::FoundKind::kAct ? "↑ ↓ choose   Enter does it   Esc closes"
                                             : "↑ ↓ choose   Enter opens   Esc closes";
}

void FinderView::move(std::size_t rows) {
  const std::size_t last = found_.empty() ? 0 : found_.size() - 1, before = chosen_;
  const bool stays = !picked_ && on_enter() == nullptr;  // the first arrow only picks the row
  bool pressed_any = false;
  const auto on = [&](ImGuiKey key, std::size_t to) {
    if (!pressed(key)) return;
    pressed_any = true;
    chosen_ = stays ? before : to;
  };
  on(ImGuiKey_DownArrow, chosen_ == last ? 0 : chosen_ + 1);
  on(ImGuiKey_UpArrow, chosen_ == 0 ? last : chosen_ - 1);
  on(ImGuiKey_PageDown, std::min(last, chosen_ + rows));
  on(ImGuiKey_PageUp, chosen_ < rows ? 0 : chosen_ - rows);
  const float wheel = ImGui::GetIO().MouseWheel;
  if (wheel < 0) chosen_ = std::min(last, chosen_ + 1);
  if (wheel > 0 && chosen_ > 0) --chosen_;
  picked_ = picked_ || pressed_any || wheel != 0;
  first_ = std::clamp(first_, chosen_ < rows ? 0 : chosen_ + 1 - rows, chosen_);
}

std::optional<page::Findable> FinderView::draw_rows(const Rect& rect, std::size_t rows) {
  std::optional<page::Findable> clicked;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  Rect rest = rect;
  for (std::size_t i = first_; i < std::min(found_.size(), first_ + rows); ++i) {
    const Rect row = rest.cut_top(px(kFinderRow));
    ImGui::PushItemFlag(ImGuiItemFlags_NoNav, true);
    const Hit state = hit(fmt::format("found {}", i + 1).c_str(), row);
    ImGui::PopItemFlag();
    if (state.hovered && (moved.x != 0 || moved.y != 0)) chosen_ = i, picked_ = true;
    if (state.clicked && found_[i].what.why_not.empty()) clicked = found_[i].what;
    const bool marked = i == chosen_ && (picked_ || on_enter() != nullptr);
    if (marked) fill(row, theme().state.selected, 6);
    if (marked) fill({row.x0, row.y0 + px(5), row.x0 + px(3), row.y1 - px(5)}, theme().ink, 1);
    draw_row(found_[i], row);
  }
  return clicked;
}

std::optional<page::Findable> FinderView::draw(PageFrame& frame, std::span<const lessons::Page* const> read) {
  if (std::exchange(frame.ui.open.finder, false)) open(frame, read);
  const ImVec2 screen = ImGui::GetMainViewport()->Size;
  const float width = std::min(px(kFinderWidth), screen.x), top = std::round(screen.y * kTop);
  const float around = px(2 * kFinderPadding + kField + 8 + kHint),
              room = std::max(0.0f, screen.y - top - px(8) - around);
  const std::size_t fit = std::max<std::size_t>(1, static_cast<std::size_t>(room / px(kFinderRow)));
  const std::size_t rows = std::clamp<std::size_t>(found_.size(), 1, std::min(kMostRows, fit));
  const float x = std::round((screen.x - width) * 0.5f);
  const Rect place{x, top, x + width, top + around + px(kFinderRow) * static_cast<float>(rows)};
  if (!begin_popup("finder", place, kFinderPadding)) return std::nullopt;
  Rect inner = place.inset(px(kFinderPadding));
  const bool focus = std::exchange(entered_, false) || ImGui::IsWindowAppearing();
  const bool entered = text_field("find", inner.cut_top(px(kField)), typed_, "", focus,
                                  "Page, term, setting, card, command, text or link; or “batch 8”, “4090”, “LoRA”") &&
                       enter_pressed();
  if (typed_ != searched_) search(frame, read);
  inner.cut_top(px(8));
  move(rows);
  std::optional<page::Findable> chosen = draw_rows(inner.cut_top(px(kFinderRow) * static_cast<float>(rows)), rows);
  if (found_.empty())
    text_in(Face::kRegular, 13,
            place.inset(px(kFinderPadding + 10), px(kFinderPadding + kField + 8)).top(px(kFinderRow)), theme().text2,
            "There is no page, term, figure, setting, command or text with these words.");
  const std::string count = found_.empty() ? "" : fmt::format("{} of {}", chosen_ + 1, found_.size());
  text_in(Face::kRegular, 12, inner.inset(px(10), 0), theme().text3, hint());
  text_in(Face::kRegular, 12, inner.inset(px(10), 0), theme().text3, count, 1);
  if (const page::Findable* const what = on_enter(); entered && what != nullptr) chosen = *what;
  entered_ = entered && !chosen;
  if (chosen || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) ImGui::CloseCurrentPopup();
  end_popup();
  return chosen;
}

}  // namespace headroom::app::window
