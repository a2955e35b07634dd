// The bench: settings on the left, timeline and map of what fits in the middle, the verdict on the right, and the
// command of what is on show below.
#include "app/window/views/bench_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/page/words/finder.h"
#include "app/page/words/page_words.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/verdict_parts.h"
#include "app/window/views/views.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

using predict::Verdict;
using record::ParamSpec;

namespace {

constexpr float kCommand = 34, kFilter = 32, kRun = 52, kHeading = 26, kCell = kCellHeight + 6;  // px at scale 1
constexpr std::string_view kMap = "fit_map";

// The settings that most questions are about; the others follow by the schema's groups.
struct Main {
  std::string_view title;
  std::array<std::string_view, 5> keys;
};
constexpr std::array kMain{Main{"What", {"model", "weights", "precision", "optimizer", "adapters"}},
                           Main{"How", {"batch", "seq", "accumulate", "checkpointing", "loss"}},
                           Main{"Where", {"cap", "device", "ranks"}}};

bool is_main(std::string_view key) {
  return std::ranges::any_of(kMain,
                             [&](const Main& each) { return std::ranges::find(each.keys, key) != each.keys.end(); });
}

bool is_choice_of_one(const ParamSpec& spec) {
  return spec.kind == record::ParamKind::kChoice && spec.choices.size() < 2;
}

bool matches(const ParamSpec& spec, const std::string& typed) {
  const std::string all =
      page::in_small_letters(fmt::format("{} {} {} {}", spec.label, spec.key, spec.group, spec.help));
  return all.find(page::in_small_letters(typed)) != std::string::npos;
}

// The kinds that are alive at the peak, the largest first.
void draw_kinds(const StepPlan& plan, const PeakUnit& unit) {
  std::vector<std::pair<record::Bytes, record::Category>> kinds;
  for (int i = 0; i < record::kNumCategories; ++i)
    if (const record::Bytes bytes = plan.by_category[static_cast<std::size_t>(i)]; bytes > 0)
      kinds.emplace_back(bytes, static_cast<record::Category>(i));
  std::ranges::sort(kinds, std::greater());
  for (const auto& [bytes, category] : kinds) {
    const Rect row = take(22);
    fill({row.x0, row.center_y() - px(5), row.x0 + px(10), row.center_y() + px(5)}, theme().of(category).fill, 2);
    text_in(Face::kRegular, 13, {row.x0 + px(18), row.y0, row.x1, row.y1}, theme().text, record::label_of(category));
    const double share = 100.0 * static_cast<double>(bytes) / static_cast<double>(plan.allocated);
    text_in(Face::kRegular, 12, row, theme().text2, fmt::format("{:.0f} %", share), 1);
    text_in(Face::kMedium, 13, {row.x0, row.y0, row.x1 - px(44), row.y1}, theme().text,
            static_cast<double>(bytes) < 0.05 * unit.size ? record::format_bytes(bytes, 1)
                                                          : fmt::format("{} {}", unit.number(bytes), unit.name),
            1);
  }
}

void heading(std::string_view words) {
  gap(12);
  text_in(Face::kSemiBold, 12, take(20), theme().text3, words);
  gap(2);
}

void draw_switches(PageFrame& frame, const StepPlan& plan, const PeakUnit& unit) {
  const bool fits_now = plan.cards.front().fit.verdict == Verdict::kFits;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = content_rect(0).width();
  constexpr float kAll = 2000;  // px: below everything
  const std::vector<Chip> chips = chips_on(frame, {at.x, at.y, at.x + width, at.y + px(kAll)}, unit, fits_now);
  if (chips.empty()) put_words(Face::kRegular, 12, 1.4f, theme().text2, "Computing the effect of each technique");
  Pressed pressed;
  for (const Chip& chip : chips) {
    draw_chip(chip, take(kChip), fits_now, pressed, true);
    gap(kChipGap);
  }
  take_press(frame, pressed);
}

// The peak and its verdict.
void draw_peak(PageFrame& frame, const StepPlan& plan, const PeakUnit& unit) {
  const bool current = plan.params == frame.page.settings();
  const Color ink = current ? theme().text : theme().text3;
  const Rect row = take(36);
  const Rect number = text_in(Face::kSemiBold, 28, row, ink, unit.number(plan.allocated));
  const Rect after{number.x1 + px(6), row.y0 + px(7), row.x1, row.y1};
  float x = text_in(Face::kMedium, 13, after, theme().text2, fmt::format("{} at the peak", unit.name)).x1 + px(10);
  if (!plan.why_formula.empty()) x = draw_formula_badge(x, row, plan.why_formula);
  gap(6);
  const Rect pill = take(26);
  draw_pill(pill.x0, pill.center_y(), plan.cards.front().fit.verdict, verdict_words(plan, unit), current);
  gap(8);
  const Largest largest = largest_words(frame, plan);
  if (!largest.words.empty())
    put_words(Face::kSemiBold, 13, 1.35f, largest.wrong ? theme().danger : ink, largest.words);
  std::string words = measured_words(plan.allocated, page::measured_peak(frame.page), unit);
  for (const std::string& part : parts_words(plan, unit)) words += part;
  words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  gap(4);
  put_words(Face::kRegular, 12, 1.4f, theme().text2, words + ".");
}

void draw_command(PageFrame& frame, const Rect& rect) {
  const std::string command = page::plan_command(frame.page);
  fill(rect, theme().canvas, 6);
  outline(rect, theme().hairline, 6);
  Rect inner = rect.inset(px(12), 0);
  const ButtonText copy{"Copy", Icon::kNone, "", "Copy this command"};
  const Rect at = inner.cut_right(button_width(copy));
  if (button("copy command", {at.x0, at.center_y() - px(12), at.x1, at.center_y() + px(12)}, copy,
             ButtonKind::kGhost)) {
    ImGui::SetClipboardText(command.c_str());
    frame.ui.say_in_passing("The command is copied.", frame.now);
  }
  inner.cut_right(px(8));
  const std::string shown = shortened(Face::kMono, 12, command, inner.width());
  text_in(Face::kMono, 12, inner, theme().text2, shown);
  if (shown != command && pointed(inner)) tooltip(command);
}

}  // namespace

// Keys that this step's schema lacks or that are not in use are left out.
void BenchView::take_sections(const PageFrame& frame, const Rect& column) {
  const bool inside = ImGui::IsMouseHoveringRect(upper_left(column), lower_right(column));
  if (!sections_.empty() && inside && filter_.empty() && !ImGui::IsAnyItemActive()) return;
  if (!sections_.empty() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const record::Params& params = frame.page.settings();
  const record::Params begin = page::begin_of(frame.page);
  const auto usable = [&](const ParamSpec& spec) { return params.in_use(spec.key) && !is_choice_of_one(spec); };
  const auto changed = [&](const ParamSpec& spec) { return params.as_text(spec.key) != begin.as_text(spec.key); };
  sections_.clear();
  if (!filter_.empty()) {
    Section& found = sections_.emplace_back(Section{"Found", {}});
    for (const ParamSpec& spec : params.schema())
      if (usable(spec) && matches(spec, filter_)) found.specs.push_back(&spec);
    return;
  }
  Section more{"Changed", {}};
  for (const ParamSpec& spec : params.schema())
    if (usable(spec) && !is_main(spec.key) && changed(spec)) more.specs.push_back(&spec);
  if (!more.specs.empty()) sections_.push_back(std::move(more));
  for (const Main& main : kMain) {
    Section& section = sections_.emplace_back(Section{main.title, {}});
    for (const std::string_view key : main.keys)
      if (const ParamSpec* const spec = record::find_spec(params.schema(), key); spec != nullptr && usable(*spec))
        section.specs.push_back(spec);
  }
  const std::size_t first_group = sections_.size();
  for (const ParamSpec& spec : params.schema()) {
    if (!usable(spec) || is_main(spec.key) || changed(spec)) continue;
    const auto same = [&](const Section& each) { return each.title == spec.group; };
    auto at = std::find_if(sections_.begin() + static_cast<std::ptrdiff_t>(first_group), sections_.end(), same);
    if (at == sections_.end()) at = sections_.insert(sections_.end(), Section{spec.group, {}});
    at->specs.push_back(&spec);
  }
}

void BenchView::draw_sections(PageFrame& frame) {
  for (const Section& section : sections_) {
    text_in(Face::kSemiBold, 12, take(kHeading), theme().text3, section.title);
    if (section.specs.empty()) put_words(Face::kRegular, 12, 1.4f, theme().text2, "No setting in use has these words.");
    for (const ParamSpec* const spec : section.specs) {
      const Rect cell = take(kCell);
      draw_param(frame, ParamsOf::kPage, *spec, {cell.x0, cell.y0, cell.x1, cell.y0 + px(kCellHeight)});
      if (is_sought(frame.state, ParamsOf::kPage, *spec)) ImGui::SetScrollHereY(0.5f);
    }
    gap(6);
  }
}

void BenchView::draw_settings(PageFrame& frame, Rect rect) {
  const Rect filter = rect.cut_top(px(kFilter));
  rect.cut_top(px(8));
  if (text_field("filter settings", filter, filter_, "", false, "Filter the settings") || ImGui::IsItemActive())
    sections_.clear();
  const Rect run = rect.cut_bottom(px(kRun));
  rect.cut_bottom(px(10));
  take_sections(frame, rect);
  if (begin_column("bench settings", rect)) draw_sections(frame);
  end_column();
  draw_run(frame, run, false);
}

void BenchView::draw_map(PageFrame& frame, const Rect& rect) {
  const lessons::Figure& figure = *lessons::find_figure(kMap);
  const MapFor now{frame.page.figures().data_revision(), size_of(rect), look().scale, look().theme};
  if (!(now == map_for_)) {
    const lessons::FigureInput input = frame.page.input_of(figure, static_cast<int>(rect.width()));
    map_ = paint::layout(figure.build(input), frame_for(size_of(rect), true, {.header = false}));
    map_for_ = now;
  }
  canvas()->PushClipRect(upper_left(rect), lower_right(rect), true);
  paint_scene(*canvas(), map_, upper_left(rect));
  canvas()->PopClipRect();
  for (const paint::HitArea& area : map_.hits)
    if (!area.tip.empty() && pointed(area.rect.moved({rect.x0, rect.y0}))) tooltip(area.tip);
  ImGui::PushID("map");
  act_on_boxes(frame, map_, rect);
  ImGui::PopID();
}

void BenchView::draw_figures(PageFrame& frame, const Rect& rect) {
  constexpr float kMapShare = 0.4f, kLeastPlot = 300;
  card(rect);
  Rect inner = rect.inset(px(wide(frame) ? 16 : 12));
  frame.figure.draw_head(frame, inner.cut_top(px(28)));
  inner.cut_top(px(6));
  const float map = std::round(std::min(inner.height() * kMapShare, inner.height() - px(kLeastPlot)));
  if (map > px(120) && !frame.ui.figure_only) {
    draw_map(frame, inner.cut_bottom(map));
    inner.cut_bottom(px(12));
  }
  frame.figure.draw_picture(frame, inner);
}

void BenchView::draw_verdict_column(PageFrame& frame, const Rect& rect) {
  Rect column = rect;
  column.y0 = draw_program_notice(frame, column);
  if (const float below = draw_notice(frame, column); below > column.y0) column.y0 = below + px(10);
  if (begin_column("bench verdict", column)) {
    const Rect card = take(32);
    if (page::device_of(frame.page) == record::DeviceKind::kGpu && page::limit_set(frame.page) == 0)
      draw_card_button(frame, card);
    else
      draw_card_choice(frame, card);
    gap(10);
    const StepPlan* const plan = page::plan_of(frame.page);
    if (plan == nullptr || plan->cards.empty()) {
      put_words(Face::kRegular, 13, 1.4f, theme().text2,
                plan != nullptr && !plan->refusal.empty() ? plan->refusal : "Computing the prediction");
    } else {
      const PeakUnit unit = peak_unit(frame, plan->allocated);
      draw_peak(frame, *plan, unit);
      gap(8);
      const Rect row = take(28);
      const ButtonText fit{"Make it fit", Icon::kNone, "", "The cheapest switches that make this step fit on the card"};
      const bool fits = plan->cards.front().fit.verdict == Verdict::kFits;
      frame.state.sizing.makes_fit = frame.state.sizing.makes_fit && !fits;
      if (!fits && button("make it fit", row.left(button_width(fit)), fit))
        frame.state.sizing.makes_fit = !frame.state.sizing.makes_fit;
      draw_try(frame, {row.x0 + (fits ? 0 : button_width(fit) + px(8)), row.y0, row.x1, row.y1});
      if (frame.state.sizing.makes_fit) {
        gap(8);
        draw_make_fit(frame, content_rect(0).width());
      }
      heading("At the peak");
      draw_kinds(*plan, unit);
      heading("Switches, and what each changes");
      draw_switches(frame, *plan, unit);
    }
  }
  end_column();
}

void BenchView::draw(PageFrame& frame, const Rect& rect) {
  const bool roomy = wide(frame);
  const float space = px(roomy ? 20 : 14);
  Rect rest = rect;
  draw_command(frame, rest.cut_bottom(px(kCommand)));
  rest.cut_bottom(px(10));
  if (!frame.state.sought.param.empty())
    if (const ParamSpec* const spec = record::find_spec(frame.page.settings().schema(), frame.state.sought.param))
      filter_ = is_main(spec->key) ? std::string() : std::string(spec->label);
  draw_settings(frame, rest.cut_left(px(roomy ? 300 : 250)));
  rest.cut_left(space);
  draw_verdict_column(frame, rest.cut_right(px(roomy ? 310 : 268)));
  rest.cut_right(space);
  draw_figures(frame, rest);
}

}  // namespace headroom::app::window
