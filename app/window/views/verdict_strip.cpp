// The verdict and the switches below a figure.
#include "app/window/views/views.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/widgets/widget.h"
#include "lessons/shown_unit.h"

namespace headroom::app::window {

namespace {

using page::WayOut, predict::Verdict, record::Bytes;

constexpr float kHeadline = 34, kChip = 26, kChipGap = 6, kStripPadding = 8;
constexpr float kHold = 0.25f;  // seconds after which a press counts as holding

// Rows of chips. In small windows kernels need the room, so the verdict is one line.
int rows_of(PageFrame& frame) {
  if (frame.density == Density::kWide) return 2;
  return lessons::panel_of<lessons::Lanes>(frame.page.figure(frame.figure.columns())) == nullptr ? 1 : 0;
}

// One decimal: "32.0", "−12.8".
struct PeakUnit : lessons::ShownUnit {
  std::string number(Bytes of) const { return lessons::in_unit(static_cast<double>(of), *this, 1); }
  std::string change(Bytes of) const { return (of < 0 ? "−" : "+") + number(std::abs(of)); }
};

// The figure's unit, or else one that suits the peak.
PeakUnit unit_of(const PageFrame& frame, Bytes peak) {
  return {lessons::unit_of_bytes(frame.page.figure(frame.figure.columns()), static_cast<double>(peak))};
}

// "does not fit by 8.0 GiB"
std::string verdict_words(const StepPlan& plan, const PeakUnit& unit) {
  const predict::Fit& fit = plan.cards.front().fit;
  const Bytes taken = plan.reserved > 0 ? plan.reserved : plan.allocated;
  switch (fit.verdict) {
    case Verdict::kFits:
      if (taken > fit.limit) return "fits, but only just";  // free segments are returned before the card is full
      return fmt::format("fits, {} free", record::format_bytes(fit.limit - taken, 1));
    case Verdict::kTooClose:
      return "too close to tell";
    case Verdict::kDoesNotFit:
      return taken > fit.limit ? fmt::format("does not fit by {} {}", unit.number(taken - fit.limit), unit.name)
                               : "does not fit";
  }
  return "";
}

// Uses the danger color if the step does not fit. Returns the right edge.
float draw_pill(float x, float center_y, Verdict verdict, const std::string& words) {
  const Rect pill{x, center_y - px(13), x + text_width(Face::kSemiBold, 13, words) + px(24), center_y + px(13)};
  const bool bad = verdict == Verdict::kDoesNotFit;
  fill(pill, bad ? theme().danger_soft : theme().state.selected, 13);
  if (bad)
    outline(pill, theme().danger, 13);
  else if (verdict == Verdict::kTooClose)
    dashed_outline(pill, theme().control, 13);
  text_in(Face::kSemiBold, 13, pill, bad ? theme().danger : theme().text, words, 0.5f);
  return pill.x1;
}

// "measured 13.1, as predicted to the byte", "measured 13.2, 0.4 % more"; empty without a run.
std::string measured_words(Bytes predicted, Bytes measured, const PeakUnit& unit) {
  if (measured <= 0) return {};
  if (measured == predicted) return fmt::format("measured {}, as predicted to the byte; ", unit.number(measured));
  const Bytes apart = std::abs(measured - predicted);
  const double percent = 100 * static_cast<double>(apart) / static_cast<double>(predicted);
  const std::string by = percent < 0.1 ? record::format_bytes(apart, 0) : fmt::format("{:.1g} %", percent);
  return fmt::format("measured {}, {} {}; ", unit.number(measured), by, measured > predicted ? "more" : "less");
}

// "of tensors", "; the allocator reserves 22.8", ", the process takes 0.7 more (as on H200)"
std::vector<std::string> parts_words(const StepPlan& plan, const PeakUnit& unit) {
  const CardPlan& on = plan.cards.front();
  const predict::ProcessBytes& process = on.card.process;
  if (!plan.why_formula.empty()) return {"of tensors"};  // the badge explains the rest
  std::vector<std::string> parts{"of tensors"};
  if (plan.reserved > 0) {
    const bool gives_back = plan.reserved > on.fit.limit && on.fit.verdict != Verdict::kDoesNotFit;
    parts.push_back(
        fmt::format("; the allocator {} {}", gives_back ? "would reserve" : "reserves", unit.number(plan.reserved)));
    if (gives_back) parts.emplace_back(" and free cached memory to fit");
  }
  if (process.bytes > 0)
    parts.push_back(fmt::format(", the process takes {} ± {} more (as on {})", unit.number(process.bytes),
                                unit.number(process.margin), process.source));
  return parts;
}

void draw_parts(const Rect& rect, const std::string& measured, std::span<const std::string> parts) {
  std::vector<std::string> wordings{parts.front(), measured + parts.front()};
  for (const std::string& part : parts.subspan(1)) wordings.push_back(wordings.back() + part);
  const auto fits = [&](const std::string& words) { return text_width(Face::kRegular, 12, words) <= rect.width(); };
  const auto shown = std::find_if(wordings.rbegin(), wordings.rend(), fits);
  if (shown == wordings.rend()) return;
  text_in(Face::kRegular, 12, rect, theme().text2, *shown);
  const bool cut = shown != wordings.rbegin();
  if (cut && pointed(rect)) tooltip(wordings.back());
}

// The largest batch that ran and the smallest that did not, under the card's limit; 0 if none.
struct Tried {
  std::int64_t ran = 0, ended = 0;

  bool any() const { return ran > 0 || ended > 0; }
  bool against(std::int64_t predicted) const { return ran > predicted + 1 || (ended > 0 && ended <= predicted); }
  std::string words() const {
    if (ended == 0) return fmt::format("tried: {} ran", ran);
    return ran == 0 ? fmt::format("tried: {} ran out of memory", ended)
                    : fmt::format("tried: {} ran, {} ran out of memory", ran, ended);
  }
};

Tried tried_batches(page::PageModel& page) {
  Tried tried;
  for (const page::SettingMark& run : page::marks_of(page, "batch")) {
    const auto batch = static_cast<std::int64_t>(run.value);
    if (run.kind == page::SettingMark::Kind::kFits) tried.ran = std::max(tried.ran, batch);
    if (run.kind == page::SettingMark::Kind::kOutOfMemory)
      tried.ended = tried.ended == 0 ? batch : std::min(tried.ended, batch);
  }
  return tried;
}

std::string largest_words(const StepPlan& plan, const Tried& tried) {
  const CardPlan& on = plan.cards.front();
  if (!on.largest_batch) return "";
  if (*on.largest_batch == 0 && !tried.any()) return "not even one sequence fits";
  const std::string batch = largest_text(plan.params, "batch", *on.largest_batch);
  const std::string_view up_to = batch.ends_with("more") ? "batch" : "up to batch";
  if (tried.any())
    return fmt::format("{} {} {}; {}", tried.against(*on.largest_batch) ? "predicted" : "fits", up_to, batch,
                       tried.words());
  std::string words = fmt::format("fits {} {}", up_to, batch);
  if (on.largest_sequence && *on.largest_sequence > 0)
    words += fmt::format(", or {} tokens", largest_text(plan.params, "seq", *on.largest_sequence));
  return words;
}

std::string own_card_name(const page::PageModel& page) {
  if (page::chosen_card(page) != nullptr) return page.settings().has("device") ? "The page's own GPU" : "24 GiB";
  const auto on = page.settings().has("device") ? page::card_of(page) : std::nullopt;
  return on ? on->name : "24 GiB";
}

// The page's own card, then all cards with known memory.
struct CardList {
  std::vector<std::string> names;
  std::vector<const predict::Card*> cards;
};
CardList card_list(const page::PageModel& page) {
  CardList list{{own_card_name(page)}, {nullptr}};
  for (const predict::Card& card : predict::cards()) {
    if (!card.memory) continue;
    list.names.push_back(fmt::format("{}, {}", card.name, record::format_bytes(*card.memory, 0)));
    list.cards.push_back(&card);
  }
  return list;
}

// A button that runs the largest batch predicted to fit, then the next larger one. Returns the left edge.
float draw_try(PageFrame& frame, const Rect& row) {
  page::PageModel& page = frame.page;
  if (!page::why_no_engine(page).empty()) return row.x1;
  const std::optional<double> seconds = page::estimated_trial_seconds(page);
  const std::string why_not = page::why_no_trial(page);
  const bool asks = frame.state.asked.trial && why_not.empty();
  const std::string words = page.trying() ? "Trying" : asks ? "Try, " + seconds_words(seconds) + "?" : "Try it";
  const std::string tip =
      why_not.empty() ? "Run the largest batch predicted to fit, and the next one, within the card's free memory"
                      : why_not;
  const ButtonText text{words, Icon::kNone, "", tip};
  const Rect at{row.x1 - button_width(text), row.center_y() - px(13), row.x1, row.center_y() + px(13)};
  if (button("try", at, text, ButtonKind::kSecondary, why_not.empty() && !page.trying())) {
    frame.state.asked.trial = !asks && seconds.value_or(0) > kLongRun;
    if (!frame.state.asked.trial) page.try_border(frame.now);
  }
  return at.x0 - px(12);
}

// The badge's tooltip explains the closed form. Returns the right edge.
float draw_formula_badge(float x, const Rect& row, const std::string& why) {
  const float end = source_badge(x, row.center_y(), record::Source::kFormula);
  if (pointed({x, row.y0, end, row.y1})) tooltip("Only tensors, by the closed form: " + why);
  return end;
}

void draw_headline(PageFrame& frame, const Rect& row) {
  const StepPlan* const plan = page::plan_of(frame.page);
  float end = draw_card_choice(frame.page, row);
  if (plan == nullptr || plan->cards.empty()) {
    const std::string why = plan != nullptr && !plan->refusal.empty() ? plan->refusal : "Computing the prediction";
    text_fit(Face::kRegular, 13, {row.x0, row.y0, end, row.y1}, theme().text2, why);
    return;
  }
  const bool current = plan->params == frame.page.settings();
  const PeakUnit unit = unit_of(frame, plan->allocated);
  const Color ink = current ? theme().text : theme().text3;
  const Rect number = text_in(Face::kSemiBold, 24, row, ink, unit.number(plan->allocated));
  float x = text_in(Face::kMedium, 12, {number.x1 + px(5), row.y0 + px(5), end, row.y1}, theme().text2, unit.name).x1;
  if (!plan->why_formula.empty()) x = draw_formula_badge(x + px(12), row, plan->why_formula);
  x = draw_pill(x + px(12), row.center_y(), plan->cards.front().fit.verdict, verdict_words(*plan, unit)) + px(12);
  const Tried tried = tried_batches(frame.page);
  const std::string largest = largest_words(*plan, tried);
  // On stage, words need the button's room.
  if (plan->cards.front().largest_batch && !frame.ui.stage) end = draw_try(frame, {x, row.y0, end, row.y1});
  const bool wrong = plan->cards.front().largest_batch && tried.against(*plan->cards.front().largest_batch);
  const float of_largest = text_width(Face::kSemiBold, 13, largest);
  const bool with_largest = x + of_largest < end;
  if (with_largest) text_in(Face::kSemiBold, 13, {x, row.y0, end, row.y1}, wrong ? theme().danger : ink, largest, 1);
  const Rect rest{x, row.y0, end - (with_largest ? of_largest + px(16) : 0), row.y1};
  draw_parts(rest, measured_words(plan->allocated, page::measured_peak(frame.page), unit), parts_words(*plan, unit));
}

std::string tip_of(const WayOut& way) {
  std::string tip = way.what->reason;
  if (way.what->cost.exactness) tip += " It changes the results of training.";
  if (way.what->cost.speed) tip += " A step takes longer.";
  tip += way.turned
             ? way.on ? " Click: off. Hold: see the figure without it." : " Click: on. Hold: see the figure with it."
             : " " + way.why_not;
  return tip;
}

struct Chip {
  const WayOut* way;
  std::string change;
  float width;
};

Chip chip_of(const WayOut& way, const PeakUnit& unit) {
  // A change from other settings would be misread.
  std::string change = way.change && way.current ? unit.change(*way.change) : way.turned ? "…" : "";
  // Leaves room for the awaited number.
  const float least = text_width(Face::kRegular, 12, "−00.0");
  const float width = text_width(Face::kSemiBold, 12, way.what->button()) +
                      (change.empty() ? 0 : px(8) + std::max(least, text_width(Face::kRegular, 12, change))) + px(22);
  return {&way, std::move(change), width};
}

// `clicked`: the mouse button was released on the chip.
struct Pressed {
  const WayOut* clicked = nullptr;
  const WayOut* held = nullptr;
};

void draw_chip(const Chip& chip, const Rect& at, bool fits_now, Pressed& pressed) {
  const WayOut& way = *chip.way;
  const Hit state = hit(("way " + way.what->id).c_str(), at, way.turned.has_value());
  const bool enough = fits_now || way.on || way.verdict == Verdict::kFits;
  const Color label = way.on ? theme().on_ink : !way.turned ? theme().disabled : enough ? theme().text : theme().text2;
  if (way.on)
    fill(at, state.hovered ? theme().state.ink_hover : theme().ink, 13);
  else if (state.hovered)
    fill(at, state.held ? theme().state.active : theme().state.hover, 13);
  if (!way.on) outline(at, way.turned ? theme().control : theme().hairline, 13, !fits_now && enough && !way.on ? 2 : 1);
  if (state.focused) focus_ring(at, 13);
  const float x =
      text_in(Face::kSemiBold, 12, {at.x0 + px(11), at.y0, at.x1, at.y1}, label, way.what->button()).x1 + px(8);
  const Color second = way.on ? theme().on_ink : theme().text2;
  text_in(Face::kRegular, 12, {x, at.y0, at.x1, at.y1}, second, chip.change);
  const bool tip = ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled);
  if (tip && !state.held) tooltip(tip_of(way));
  if (!way.turned) return;
  if (state.clicked) pressed.clicked = &way;
  if (state.held) pressed.held = &way;
}

// A short press turns the switch. A long press shows the figure with the switch turned, until released.
void take_press(PageFrame& frame, const Pressed& pressed) {
  page::PageModel& page = frame.page;
  if (page.history().holding()) {
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) page.release();
    return;
  }
  if (pressed.held != nullptr && ImGui::GetIO().MouseDownDuration[ImGuiMouseButton_Left] > kHold)
    page.hold(*pressed.held);
  else if (pressed.clicked != nullptr)
    page::turn(page, *pressed.clicked);
}

// A button lists the chips without room.
void draw_rest(PageFrame& frame, const std::vector<Chip>& chips, std::size_t from, const Rect& at, bool fits_now) {
  const std::string words = fmt::format("{} more", chips.size() - from);
  if (button("more ways", at, {words}, ButtonKind::kGhost)) ImGui::OpenPopup("ways out");
  constexpr float kInset = 12;
  float widest = 0;
  for (std::size_t i = from; i < chips.size(); ++i) widest = std::max(widest, chips[i].width);
  const float height = static_cast<float>(chips.size() - from) * px(kChip + kChipGap) - px(kChipGap);
  const Rect place = popup_place(at, {widest + px(2 * kInset), height + px(2 * kInset)});
  if (!begin_popup("ways out", place, kInset)) return;
  const ImVec2 begin = ImGui::GetCursorScreenPos();
  Pressed pressed;
  for (std::size_t i = from; i < chips.size(); ++i) {
    const float y = begin.y + static_cast<float>(i - from) * px(kChip + kChipGap);
    draw_chip(chips[i], {begin.x, y, begin.x + widest, y + px(kChip)}, fits_now, pressed);
  }
  end_popup();
  take_press(frame, pressed);
}

// Chips stay in place under the mouse; a click could otherwise hit another chip.
std::vector<Chip> chips_on(PageFrame& frame, const Rect& rect, const PeakUnit& unit) {
  std::vector<Chip> chips;
  std::vector<std::string>& names = frame.state.ways;
  if (names.empty() || !ImGui::IsMouseHoveringRect(upper_left(rect), lower_right(rect))) {
    names.clear();
    for (const WayOut* way : frame.page.verdict().shown_ways()) names.emplace_back(way->what->button());
  }
  for (const std::string& name : names)
    for (const WayOut& way : frame.page.verdict().ways())
      if (way.what->button() == name) chips.push_back(chip_of(way, unit));
  return chips;
}

void draw_ways(PageFrame& frame, const Rect& rect) {
  const StepPlan* const plan = page::plan_of(frame.page);
  if (plan == nullptr || plan->cards.empty()) return;
  const bool fits_now = plan->cards.front().fit.verdict == Verdict::kFits;
  const PeakUnit unit = unit_of(frame, plan->allocated);
  const std::vector<Chip> chips = chips_on(frame, rect, unit);
  if (chips.empty()) text_in(Face::kRegular, 12, rect, theme().text2, "Computing the effect of each technique");
  constexpr float kRest = 84;
  float x = rect.x0, y = rect.y0;
  Pressed pressed;
  std::size_t i = 0;
  for (; i < chips.size(); ++i) {
    const bool last_row = y + px(2 * kChip) > rect.y1;
    const bool last_chip = i + 1 == chips.size();
    const float room = rect.x1 - (last_row && !last_chip ? px(kRest) : 0);
    if (x + chips[i].width > room) {
      if (last_row) break;
      x = rect.x0;
      y += px(kChip + kChipGap);
    }
    draw_chip(chips[i], {x, y, x + chips[i].width, y + px(kChip)}, fits_now, pressed);
    x += chips[i].width + px(kChipGap);
  }
  if (i < chips.size()) draw_rest(frame, chips, i, {x, y, x + px(kRest), y + px(kChip)}, fits_now);
  take_press(frame, pressed);
}

}  // namespace

float card_choice_width(const page::PageModel& page) {
  float widest = 0;
  for (const std::string& name : card_list(page).names) widest = std::max(widest, text_width(Face::kMedium, 13, name));
  return widest + px(40);
}

float draw_card_choice(page::PageModel& page, const Rect& row) {
  const bool runs = page.settings().has("device");
  if (const auto on = runs ? page::card_of(page) : std::nullopt;
      on && page::device_of(page) == record::DeviceKind::kCpu) {
    const std::string words = page.settings().integer("cap") > 0
                                  ? "under " + on->name
                                  : fmt::format("of {} on {}", record::format_bytes(on->memory, 0), on->name);
    text_in(Face::kRegular, 12, row, theme().text2, words, 1);
    return row.x1 - text_width(Face::kRegular, 12, words) - px(12);
  }
  const CardList list = card_list(page);
  int selected = static_cast<int>(std::ranges::find(list.cards, page::chosen_card(page)) - list.cards.begin());
  const float width = std::min(card_choice_width(page), row.width() * 0.4f);
  const Rect at{row.x1 - width, row.center_y() - px(15), row.x1, row.center_y() + px(15)};
  if (select("card", at, list.names, selected)) page.choose_card(list.cards[static_cast<std::size_t>(selected)]);
  return at.x0 - px(12);
}

float verdict_height(PageFrame& frame) {
  if (!page::has_verdict(frame.page) || !page::card_of(frame.page)) return 0;
  const auto rows = static_cast<float>(rows_of(frame));
  return kHeadline + rows * (kChip + kChipGap) + 2 * kStripPadding - 2;
}

void draw_verdict(PageFrame& frame, const Rect& rect) {
  fill(rect, theme().canvas, 6);
  outline(rect, theme().hairline, 6);
  Rect inner = rect.inset(px(14), px(kStripPadding));
  draw_headline(frame, inner.cut_top(px(kHeadline - 4)));
  inner.cut_top(px(6));
  if (rows_of(frame) > 0) draw_ways(frame, inner);
}

}  // namespace headroom::app::window
