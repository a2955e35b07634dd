// The head of a figure's card: name, source, run, the figure's settings, measured or predicted.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/views.h"
#include "app/window/widgets/param_control.h"
#include "app/window/widgets/widget.h"
#include "demos/experiments/demo.h"
#include "lessons/params.h"

namespace headroom::app::window {

namespace {

constexpr float kLeastTitle = 100;   // px that the figure's name needs next to its choices
constexpr float kRunListArrow = 24;  // px that the run list needs at least

// The width includes the label.
float choice_width(const record::ParamSpec& spec) {
  float widest = 0;
  for (const record::Choice& choice : record::choices_of(spec))
    widest = std::max(widest, text_width(Face::kMedium, 13, choice.label));
  return text_width(Face::kRegular, 12, spec.label) + px(kLabelGap) + widest + px(40);
}

// Width of choices, badge and run list; the maximum over all figures, so that the tabs look alike.
float width_beside_tabs(const PageFrame& frame) {
  float choices = 0;
  for (const std::string& id : frame.page.page().figures) {
    const lessons::Figure* figure = lessons::find_figure(id);
    float of_figure = 0;
    if (figure != nullptr)
      for (const record::ParamSpec& spec : figure->schema)
        if (spec.key != "show" && spec.key != lessons::kFrameKey && !record::choices_of(spec).empty())
          of_figure += choice_width(spec) + px(8);
    if (figure != nullptr && figure->on_card) of_figure += card_choice_width(frame.page) + px(8);
    choices = std::max(choices, of_figure);
  }
  return choices + source_badge_width(record::Source::kPredicted) + px(8) + run_choice_width(frame.page);
}

// Uses a pull-down if the tabs are wider than `room`. Returns the right edge.
float draw_tabs(PageFrame& frame, const Rect& rect, float room) {
  const float em = frame.density == Density::kWide ? 15 : 13;
  const auto& ids = frame.page.page().figures;
  std::vector<std::string> titles;
  float all = 0, widest = 0;
  for (const std::string_view id : ids) {
    const lessons::Figure* figure = lessons::find_figure(id);
    titles.emplace_back(figure == nullptr ? id : figure->title);
    const float width = text_width(Face::kSemiBold, em, titles.back());
    all += width + px(16);
    widest = std::max(widest, width);
  }
  if (all > room && titles.size() > 1) {
    int tab = frame.page.figures().tab();
    constexpr float kLeast = 130;  // least px of the list; more only after badge and runs
    const float others = source_badge_width(record::Source::kPredicted) + px(16 + kRunListArrow);
    const float y = rect.center_y();
    const float end = std::min(rect.x0 + widest + px(36), std::max(rect.x0 + px(kLeast), rect.x1 - others));
    if (select("figures", {rect.x0, y - px(14), end, y + px(14)}, titles, tab)) frame.page.show_tab(tab);
    return end + px(8);
  }
  float x = rect.x0;
  for (int i = 0; i < static_cast<int>(titles.size()); ++i) {
    const std::string& title = titles[static_cast<std::size_t>(i)];
    const bool current = i == frame.page.figures().tab();
    const Face face = current ? Face::kSemiBold : Face::kMedium;
    const Rect words{x, rect.y0, x + text_width(face, em, title), rect.y1};
    ImGui::PushID(i);
    const Hit state = hit("tab", words);
    ImGui::PopID();
    text_in(face, em, words, current || state.hovered ? theme().text : theme().text3, title);
    if (ids.size() > 1 && current)
      horizontal_line(words.x0, words.x1, words.center_y() + px(em * 0.75f), theme().ink, 2);
    if (state.focused) focus_ring(words, 4);
    if (state.clicked) frame.page.show_tab(i);
    x = words.x1 + px(16);
  }
  return x;
}

// "H200: 8-bit AdamW; Llama 3.2 1B, bf16, batch 4, 1,024 tokens"; for figures without a run, their inputs.
std::string provenance_words(const page::PageModel& page, const lessons::FigureHead& head) {
  const page::RunOnShow* const run = page.on_show();
  if (page.figures().shown().basis != lessons::Basis::kRun || run == nullptr) return head.provenance_line;
  return head.source == record::Source::kRecorded ? run->words() : run->label;
}

// The current run's machine, or a list if there are other runs.
void draw_provenance(PageFrame& frame, const Rect& rect, const lessons::FigureData& figure) {
  if (runs_to_choose(frame.page)) return draw_run_choice(frame, rect);
  if (rect.width() <= px(80)) return;
  const std::string words = provenance_words(frame.page, figure.head);
  const std::string shown = shortened(Face::kRegular, 12, words, rect.width());
  text_in(Face::kRegular, 12, rect, theme().text2, shown);
  const bool cut = shown != words;
  if (cut && pointed(rect)) tooltip(words);
}

// Draws from right to left and returns the left edge. All choices are drawn, narrower if they are too wide together.
float draw_figure_choices(PageFrame& frame, Rect rect) {
  const std::vector<const record::ParamSpec*> specs = figure_choices(frame.page);
  float together = 0;
  for (const record::ParamSpec* spec : specs) together += choice_width(*spec) + px(8);
  const float share = std::clamp((rect.width() - px(kLeastTitle)) / std::max(together, 1.0f), 0.0f, 1.0f);
  for (auto spec = specs.rbegin(); spec != specs.rend(); ++spec) {
    const float width = share * (choice_width(**spec) + px(8)) - px(8);
    const Rect at{rect.x1 - width, rect.center_y() - px(14), rect.x1, rect.center_y() + px(14)};
    if (width <= 0) break;
    if (is_sought(frame.state, ParamsOf::kFigure, **spec)) focus_next();
    draw_figure_choice(frame.page, **spec, at, (*spec)->label);
    rect.x1 = at.x0 - px(8);
  }
  return rect.x1;
}

std::string step_words(const page::PageModel& page, std::size_t frame) {
  return fmt::format("step {} of {}", frame, page.figures().frames());
}

// Step back, play or pause, step on, "step 3 of 18". Returns the left edge.
float draw_player(PageFrame& frame, Rect rect) {
  page::PageModel& page = frame.page;
  if (page.figures().frames() < 2) return rect.x1;
  const std::string words = step_words(page, page.figures().frame()),
                    widest = step_words(page, page.figures().frames());
  text_in(Face::kMedium, 12, rect, theme().text2, words, 1);
  rect.x1 -= text_width(Face::kMedium, 12, widest) + px(8);
  const auto icon_button = [&](const char* id, Icon icon, std::string_view what, bool enabled = true) {
    const Rect at{rect.x1 - px(28), rect.center_y() - px(14), rect.x1, rect.center_y() + px(14)};
    rect.x1 -= px(32);
    return button(id, at, {"", icon, "", what}, ButtonKind::kGhost, enabled);
  };
  const auto step_to = [&](std::size_t number) {
    page.figures().play(false, frame.now);
    page.figures().show_frame(number);
  };
  if (icon_button("step on", Icon::kChevronRight, "Step on (.)", page.figures().frame() < page.figures().frames()))
    step_to(page.figures().frame() + 1);
  if (icon_button("play", page.figures().plays() ? Icon::kPause : Icon::kPlay,
                  page.figures().plays() ? "Pause" : "Play"))
    page.figures().play(!page.figures().plays(), frame.now);
  if (icon_button("step back", Icon::kChevronLeft, "Step back (,)", page.figures().frame() > 1))
    step_to(page.figures().frame() - 1);
  return rect.x1 - px(8);
}

struct LayerFacts {
  page::Layer layer;
  std::string_view label;
  Icon icon;
  std::string_view tooltip;
};
constexpr LayerFacts kLayers[] = {
    {page::Layer::kFormula, "Formula", Icon::kFormula, "Result of the closed form for these settings"},
    {page::Layer::kPredicted, "Predicted", Icon::kPredicted, "Prediction of the planner for these settings"},
    {page::Layer::kMeasured, "Measured", Icon::kRecorded, "Measured in a run with these settings"},
};

// Includes all layers that the page can have, so that tabs do not move.
float width_of_layers(const PageFrame& frame) {
  if (!experiments::trains(frame.page.page().demo) || !frame.widgets.run_button()) return 0;
  std::vector<Toggle> all;
  for (const LayerFacts& facts : kLayers) all.push_back({.label = facts.label});
  return toggles_width(all, wide(frame));
}

// Draws from right to left and returns the left edge.
float draw_layers(PageFrame& frame, const Rect& rect) {
  page::PageModel& page = frame.page;
  if (!frame.widgets.run_button()) return rect.x1;
  std::vector<Toggle> all;
  std::vector<page::Layer> which;
  std::vector<std::string> fixed;
  for (const LayerFacts& facts : kLayers) {
    if (!page.layer(facts.layer).offered) continue;
    which.push_back(facts.layer);
    fixed.push_back(page.layer(facts.layer).why_fixed);
    all.push_back({facts.label, facts.icon, page.layer(facts.layer).shown, facts.tooltip});
  }
  if (all.empty()) return rect.x1;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].fixed = fixed[i];
  const float width = toggles_width(all, wide(frame));
  const Rect at{rect.x1 - width, rect.center_y() - px(13), rect.x1, rect.center_y() + px(13)};
  if (const int clicked = toggles("layers", at, all, wide(frame)); clicked >= 0)
    page.show(which[static_cast<std::size_t>(clicked)], !all[static_cast<std::size_t>(clicked)].on);
  return at.x0 - px(8);
}

}  // namespace

std::vector<const record::ParamSpec*> figure_params(const page::PageModel& page) {
  std::vector<const record::ParamSpec*> specs;
  if (page.shows_prediction()) return specs;
  const record::Params& params = page.figures().params();
  const page::RunOnShow* const run = page.runs().shown_run();
  const bool has_ranks = run != nullptr && !run->ledger->other_ranks().empty();
  for (const record::ParamSpec& spec : params.schema())
    if (spec.key != "show" && spec.key != lessons::kFrameKey && params.in_use(spec.key) &&
        (has_ranks || spec.key != lessons::kRankParam.key))
      specs.push_back(&spec);
  return specs;
}

std::vector<const record::ParamSpec*> figure_choices(const page::PageModel& page) {
  std::vector<const record::ParamSpec*> specs = figure_params(page);
  std::erase_if(specs, [](const record::ParamSpec* spec) { return record::choices_of(*spec).empty(); });
  return specs;
}

void draw_figure_choice(page::PageModel& page, const record::ParamSpec& spec, const Rect& rect,
                        std::string_view label) {
  std::vector<std::string> labels;
  int selected = 0;
  const std::span<const record::Choice> choices = record::choices_of(spec);
  const std::string value = page.figures().params().as_text(spec.key);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    labels.emplace_back(choices[i].label);
    if (choices[i].key == value) selected = static_cast<int>(i);
  }
  if (select(std::string(spec.key).c_str(), rect, labels, selected, Icon::kNone, {}, label))
    (void)page.figures().set_param(spec.key, choices[static_cast<std::size_t>(selected)].key);
  else if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    tooltip(spec.help);
}

void FigureCard::draw_head(PageFrame& frame, const Rect& rect) {
  page::PageModel& page = frame.page;
  const lessons::FigureData& figure = page.figure(columns());
  Rect head = rect;
  const float layers = width_of_layers(frame);
  const float room = rect.width() - width_beside_tabs(frame) - (layers > 0 ? layers + px(8) : 0);
  head.x1 = draw_layers(frame, head);
  head.x1 = draw_player(frame, head);
  const bool elsewhere = frame.density == Density::kNarrow || frame.widgets.have_figure_params();  // in the settings
  if (!elsewhere) head.x1 = draw_figure_choices(frame, head);
  const bool own_card = page.figures().shown().on_card && verdict_height(frame) == 0;
  if (own_card && head.width() > card_choice_width(page) + px(kLeastTitle)) head.x1 = draw_card_choice(frame, head);
  const float badge = figure.head.empty_reason.empty() ? source_badge_width(figure.head.source) + px(8) : 0;
  const bool to_choose = runs_to_choose(page);
  head.x0 = draw_tabs(frame, head, room);
  if (badge > 0 && head.width() >= badge + (to_choose ? px(kRunListArrow) : -px(8)))
    head.x0 = source_badge(head.x0, head.center_y(), figure.head.source) + px(8);
  if (to_choose || badge > 0) draw_provenance(frame, head, figure);
}

void FigureCard::draw_caption(PageFrame& frame, Rect rect) {
  const lessons::FigureHead& head = frame.page.figure(columns()).head;
  if (frame.page.figures().frames() > 1) {
    const std::string words = step_words(frame.page, frame.page.figures().frame());
    text_in(Face::kMedium, 12, rect, theme().text2, words, 1);
    rect.x1 -= text_width(Face::kMedium, 12, words) + px(8);
  }
  rect.x0 = source_badge(rect.x0, rect.center_y(), head.source) + px(8);
  std::string words = provenance_words(frame.page, head);
  if (text_width(Face::kRegular, 12, words) > rect.width())  // omits techniques: the switches below show them
    if (const std::size_t techniques = words.find("; "); techniques != std::string::npos)
      words.erase(0, techniques + 2);
  text_fit(Face::kRegular, 12, rect, theme().text2, words);
}

}  // namespace headroom::app::window
