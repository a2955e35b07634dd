// The figure of a page in its card.
#include "app/window/figure_card.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/paint/layout.h"
#include "app/window/keys.h"
#include "app/window/ladder_view.h"
#include "app/window/page_model.h"
#include "app/window/scene_painter.h"
#include "app/window/settings_view.h"
#include "app/window/widgets.h"
#include "imgui_internal.h"  // SetItemKeyOwner: the wheel belongs to the timeline, not to scrolling

namespace headroom::app::window {

namespace {

constexpr double kWheelZoom = 0.85;  // one notch
constexpr double kKeyZoom = 0.7, kKeyPan = 0.15;
constexpr float kLeastTitle = 100;  // px that the figure's name needs beside the choice of the axis
constexpr float kGrab = 9;          // px around the guess line that take hold of it
constexpr float kArrow = 24;        // px of a list of runs that is an arrow only

std::string in_axis_unit(const lessons::Axis& axis, double value) {
  return axis.unit == lessons::AxisUnit::kNanoseconds ? record::format_duration(std::llround(value))
                                                      : record::format_count(std::llround(value)) + " events";
}

// Charts and rungs have no time to move along.
bool is_timeline(const lessons::FigureData& figure) { return figure.charts.empty() && figure.rungs.empty(); }

std::string signed_bytes(record::Bytes bytes) { return (bytes > 0 ? "+" : "") + record::format_bytes(bytes); }

bool runs_to_choose(const PageModel& page) {
  return !page.shows_prediction() && page.runs().size() > 1 && !page.question().hides();
}

std::string count_of_runs(const PageModel& page) { return fmt::format("{} runs", page.runs().size()); }
float width_of_runs(const std::string& words) { return text_width(Face::kRegular, 12, words) + px(36); }

// The page's figures as words side by side, the one on show being the title; a pull-down where they would not leave
// `rest` px beside them. Returns where they end.
float draw_tabs(Frame& frame, const Rect& rect, float rest) {
  const float em = frame.width == Width::kWide ? 15 : 13;
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
  if (all + rest > rect.width() && titles.size() > 1) {
    int tab = frame.page.tab();
    const float y = rect.centre_y(), end = std::min(rect.x1, rect.x0 + widest + px(36));
    if (select("figures", {rect.x0, y - px(14), end, y + px(14)}, titles, tab)) frame.page.show_tab(tab);
    return end + px(8);
  }
  float x = rect.x0;
  for (int i = 0; i < static_cast<int>(titles.size()); ++i) {
    const std::string& title = titles[static_cast<std::size_t>(i)];
    const bool current = i == frame.page.tab();
    const Face face = current ? Face::kSemiBold : Face::kMedium;
    const Rect words{x, rect.y0, x + text_width(face, em, title), rect.y1};
    ImGui::PushID(i);
    const Hit state = hit("tab", words);
    ImGui::PopID();
    text_in(face, em, words, current || state.hovered ? theme().text : theme().text3, title);
    if (ids.size() > 1 && current)
      horizontal_line(words.x0, words.x1, words.centre_y() + px(em * 0.75f), theme().ink, 2);
    if (state.focused) focus_ring(words, 4);
    if (state.clicked) frame.page.show_tab(i);
    x = words.x1 + px(16);
  }
  return x;
}

// Which run is looked at: its provenance, and the others in a list.
void draw_run_choice(Frame& frame, const Rect& rect, const lessons::FigureData& figure) {
  PageModel& page = frame.page;
  if (!runs_to_choose(page)) {
    if (rect.width() <= px(80)) return;
    text_in(Face::kRegular, 12, rect, theme().text2,
            shortened(Face::kRegular, 12, figure.provenance_line, rect.width()));
    const bool cut = text_width(Face::kRegular, 12, figure.provenance_line) > rect.width();
    if (cut && ImGui::IsMouseHoveringRect(rect.min(), rect.max()) && ImGui::IsWindowHovered())
      tooltip(figure.provenance_line);
    return;
  }
  // Too little room for words that would tell runs apart: their number, or the arrow alone, and the words in the tooltip.
  const std::string& label = page.on_show()->label;
  const bool room = rect.width() >= px(220);
  std::string shown = room ? shortened(Face::kRegular, 12, label, rect.width() - px(36)) : count_of_runs(page);
  const bool arrow_only = width_of_runs(shown) > rect.width();
  if (arrow_only) shown.clear();
  const float width_shown = arrow_only ? px(kArrow) : width_of_runs(shown);
  const Rect at{rect.x0, rect.centre_y() - px(14), rect.x0 + width_shown, rect.centre_y() + px(14)};
  const Hit state = hit("runs", at);
  if (state.hovered) fill(at, theme().hover, 6);
  if (state.focused) focus_ring(at, 6);
  text_in(Face::kRegular, 12, {at.x0 + px(8), at.y0, at.x1, at.y1}, theme().text2, shown);
  draw_icon(Icon::kChevronDown, at.x1 - px(14), at.centre_y(), theme().text2, 14);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    tooltip(room ? "Look at another run" : label + ". Look at another run");
  if (state.clicked) ImGui::OpenPopup("run list");
  float width = px(280);
  for (const RunOnShow& run : page.runs()) width = std::max(width, text_width(Face::kSemiBold, 13, run.label) + px(60));
  constexpr float kPadding = 8;
  const float height = px(32) * static_cast<float>(page.runs().size()) + px(2 * kPadding);
  if (!begin_popup("run list", popup_place(at, {width, height}), kPadding)) return;
  const ImVec2 from = ImGui::GetCursorScreenPos();
  for (int i = 0; i < static_cast<int>(page.runs().size()); ++i) {
    const Rect row{from.x, from.y + px(32) * static_cast<float>(i), from.x + width - px(2 * kPadding),
                   from.y + px(32) * static_cast<float>(i + 1)};
    ImGui::PushID(i);
    const Hit over = hit("run", row);
    ImGui::PopID();
    if (over.hovered) fill(row, theme().hover, 6);
    if (over.focused) outline(row, theme().focus, 6, 2);
    const bool current = i == page.shown_run();
    if (current) draw_icon(Icon::kCheck, row.x0 + px(16), row.centre_y(), theme().text, 14);
    text_in(current ? Face::kSemiBold : Face::kMedium, 13, {row.x0 + px(30), row.y0, row.x1, row.y1}, theme().text,
            page.runs()[static_cast<std::size_t>(i)].label);
    if (over.clicked) {
      page.show_run(i);
      ImGui::CloseCurrentPopup();
    }
  }
  end_popup();
}

// Why there is no picture, and what makes one.
void draw_empty(Frame& frame, const Rect& rect, const lessons::FigureData& figure) {
  const PageModel& page = frame.page;
  const bool can_run = page.control().can_run() && !page.shows_prediction();
  std::string reason = figure.empty_reason;
  const bool laddered = LadderView::serves(page);
  if (page.runs().empty() && laddered)
    reason = "No ladder is stored for this page. \"Run the ladder\" climbs one on this machine.";
  else if (page.runs().empty())
    reason = can_run ? "No run is stored for this page. Run records one on this machine."
                     : "No run is stored for this page (assets/recordings). " + page.control().fixed_settings();
  if (page.shows_prediction())
    reason = page.why_no_prediction();
  else if (page.control().running())
    reason = "The first step is on its way.";
  if (empty_state(rect, "Nothing to show yet", reason, can_run && !laddered ? "Run" : "")) frame.page.run(frame.now);
}

// The figure's own settings, from the right, as far as there is room. Returns where they begin.
float draw_figure_choices(Frame& frame, Rect rect) {
  const std::vector<const record::ParamSpec*> specs = figure_choices(frame.page);
  for (auto spec = specs.rbegin(); spec != specs.rend(); ++spec) {
    float widest = 0;
    for (const record::Choice& choice : (*spec)->choices)
      widest = std::max(widest, text_width(Face::kMedium, 13, choice.label));
    const Rect at{rect.x1 - widest - px(40), rect.centre_y() - px(14), rect.x1, rect.centre_y() + px(14)};
    if (at.x0 - rect.x0 < px(kLeastTitle)) break;
    draw_figure_choice(frame.page, **spec, at);
    rect.x1 = at.x0 - px(8);
  }
  return rect.x1;
}

}  // namespace

std::vector<const record::ParamSpec*> figure_choices(const PageModel& page) {
  std::vector<const record::ParamSpec*> specs;
  if (page.shows_prediction()) return specs;
  const record::Params& params = page.figure_params();
  for (const record::ParamSpec& spec : params.schema())
    if (spec.kind == record::ParamKind::kChoice && spec.key != "show" && params.in_use(spec.key))
      specs.push_back(&spec);
  return specs;
}

void draw_figure_choice(PageModel& page, const record::ParamSpec& spec, const Rect& rect) {
  std::vector<std::string> labels;
  int selected = 0;
  for (std::size_t i = 0; i < spec.choices.size(); ++i) {
    labels.emplace_back(spec.choices[i].label);
    if (spec.choices[i].key == page.figure_params().text(spec.key)) selected = static_cast<int>(i);
  }
  if (select(std::string(spec.key).c_str(), rect, labels, selected))
    page.set_figure_param(spec.key, spec.choices[static_cast<std::size_t>(selected)].key);
  else if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    tooltip(spec.help);
}

void FigureCard::draw_head(Frame& frame, const Rect& rect) {
  PageModel& page = frame.page;
  const lessons::FigureData& figure = page.figure(columns());
  Rect head = rect;
  if (page.has_predictions() && has_run_button(frame) && !page.question().hides()) {  // a sweep is not predicted
    const std::vector<std::string> layers{"Predicted", "Measured"};
    int layer = page.shows_prediction() ? 0 : 1;
    const float width = segmented_width(layers);
    const Rect at{head.x1 - width, head.centre_y() - px(14), head.x1, head.centre_y() + px(14)};
    if (segmented("layers", at, layers, layer)) page.show_prediction(layer == 0);
    head.x1 = at.x0 - px(8);
  }
  if (frame.width != Width::kNarrow) head.x1 = draw_figure_choices(frame, head);  // else they stand in the settings
  const float badge = figure.empty_reason.empty() ? source_badge_width(figure.source) + px(8) : 0;
  const bool to_choose = runs_to_choose(page);
  head.x0 = draw_tabs(frame, head, badge + (to_choose ? width_of_runs(count_of_runs(page)) : 0));
  if (badge > 0 && head.width() >= badge + (to_choose ? px(kArrow) : -px(8)))
    head.x0 = source_badge(head.x0, head.centre_y(), figure.source) + px(8);
  if (to_choose || badge > 0) draw_run_choice(frame, head, figure);
}

void FigureCard::lay_out(Frame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const LaidOutFor now{frame.page.revision(), rect.size(), look().scale, theme().id, frame.ui.lit};
  if (now == laid_out_for_) return;
  const AtlasMeasure measure;
  paint::Frame layout;
  layout.width = rect.width();
  layout.height = rect.height();
  layout.scale = look().scale;
  layout.palette = &palette_of(theme().id);
  layout.compact = frame.width != Width::kWide;
  layout.parts = {
      .header = false, .plot = true, .alive = frame.width != Width::kNarrow, .ladder = frame.width == Width::kWide};
  layout.measure = &measure;
  layout.lit = frame.ui.lit;
  scene_ = paint::layout(figure, layout);
  laid_out_for_ = now;
  ++layouts_;
  if (scene_.map.plot.width() > 0) plot_width_ = scene_.map.plot.width();
}

void FigureCard::draw_picture(Frame& frame, const Rect& rect) {
  const bool had_focus = std::exchange(frame.ui.timeline_focus, false);  // only a timeline that is there can have it
  const lessons::FigureData& figure = frame.page.figure(columns());
  if (frame.page.question().hides() && frame.page.tab() != 0) {
    empty_state(rect, "This figure has the answer in it", "Lock your answer first, or skip it.", "");
    return;
  }
  if (!figure.empty_reason.empty()) {
    draw_empty(frame, rect, figure);
    return;
  }
  lay_out(frame, figure, rect);
  canvas()->PushClipRect(rect.min(), rect.max(), true);
  paint_scene(*canvas(), scene_, rect.min());
  draw_measure(frame, rect);
  canvas()->PopClipRect();
  if (scene_.map.plot.width() > 0 && is_timeline(figure)) frame.ui.timeline_focus = had_focus;
  interact(frame, figure, rect);
}

void FigureCard::draw_drawer(Frame& frame, const Rect& rect) {
  const lessons::FigureData& figure = frame.page.figure(columns());
  fill({rect.x0, rect.y0 + px(2), rect.x1 + px(2), rect.y1 + px(4)}, theme().shadow, 8);
  fill(rect, theme().raised, 8);
  outline(rect, theme().control, 8);
  const Rect inner = rect.inset(12);
  const AtlasMeasure measure;
  paint::Frame layout;
  layout.width = inner.width();
  layout.height = inner.height();
  layout.scale = look().scale;
  layout.palette = &palette_of(theme().id);
  layout.compact = true;
  layout.parts = {.header = false, .plot = false, .alive = true, .ladder = false};
  layout.measure = &measure;
  paint_scene(*canvas(), paint::layout(figure, layout), inner.min());
}

void FigureCard::start_drag(Frame& frame, const lessons::FigureData& figure, ImVec2 mouse) {
  const paint::PlotMap& map = scene_.map;
  drag_ = is_timeline(figure) ? Drag::kMeasure : Drag::kNone;
  drag_from_ = map.x_at(mouse.x);
  frame.page.view().set_measure(std::nullopt);
  if (!frame.page.question().hides() || !figure.guess) return;
  const bool on_pill = scene_.guess && scene_.guess->contains({mouse.x, mouse.y});
  const bool open = figure.veil_from ? mouse.x > map.x_px(*figure.veil_from) : !is_timeline(figure);
  const float off = scene_.guess_along_x ? mouse.x - map.x_px(*figure.guess) : mouse.y - map.y_px(*figure.guess);
  const bool on_line = open && std::abs(off) < px(kGrab);
  if (on_pill || on_line) drag_ = Drag::kGuess;
}

void FigureCard::interact(Frame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const paint::PlotMap& map = scene_.map;
  TimelineView& view = frame.page.view();
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 mouse{io.MousePos.x - rect.x0, io.MousePos.y - rect.y0};  // in the scene
  point_at(ImGui::IsWindowHovered() && rect.contains(io.MousePos) ? mouse : ImVec2{-1, -1});
  if (map.plot.width() <= 0) return;  // bars: nothing to zoom

  ImGui::SetCursorScreenPos({rect.x0 + map.plot.x0, rect.y0 + map.plot.y0});
  ImGui::PushStyleColor(ImGuiCol_NavCursor, 0);
  ImGui::InvisibleButton(
      "timeline", {map.plot.width(), map.plot.height()},
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_EnableNav);
  ImGui::PopStyleColor();
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const bool hovered = ImGui::IsItemHovered();
  if (io.NavVisible) frame.ui.timeline_focus = ImGui::IsItemFocused();
  if (frame.ui.timeline_focus && io.NavVisible) {
    focus_ring({rect.x0 + map.plot.x0, rect.y0 + map.plot.y0, rect.x0 + map.plot.x1, rect.y0 + map.plot.y1}, 0);
  }
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) || (hovered && moved)) frame.ui.timeline_focus = hovered;

  if (ImGui::IsItemActivated()) {
    if (ImGui::IsMouseDown(ImGuiMouseButton_Right))
      drag_ = Drag::kPan;
    else if (ImGui::IsMouseDown(ImGuiMouseButton_Left))
      start_drag(frame, figure, mouse);
  }
  if (!ImGui::IsItemActive()) drag_ = Drag::kNone;
  const bool timeline = is_timeline(figure);  // elsewhere only the guess can be dragged
  if (!timeline) {
    frame.ui.timeline_focus = false;
    if (drag_ != Drag::kGuess) drag_ = Drag::kNone;
  }
  const double x = map.x_at(std::clamp(mouse.x, map.plot.x0, map.plot.x1));
  switch (drag_) {
    case Drag::kGuess:
      frame.page.question().set_guess(scene_.guess_along_x ? map.x_at(std::clamp(mouse.x, map.plot.x0, map.plot.x1))
                                                           : map.y_at(std::clamp(mouse.y, map.plot.y0, map.plot.y1)));
      break;
    case Drag::kMeasure:
      // What is veiled cannot be measured.
      if (const double to = std::min(x, figure.veil_from.value_or(x));
          drag_from_ < figure.veil_from.value_or(HUGE_VAL) && ImGui::IsMouseDragPastThreshold(ImGuiMouseButton_Left))
        view.set_measure(TimelineView::Range{std::min(to, drag_from_), std::max(to, drag_from_)});
      break;
    case Drag::kPan:
      view.pan(-static_cast<double>(io.MouseDelta.x) / map.plot.width() * view.visible().length());
      break;
    case Drag::kNone:
      break;
  }
  if (hovered && timeline && io.MouseWheel != 0) view.zoom(x, std::pow(kWheelZoom, io.MouseWheel));
  const bool known = !figure.veil_from || x < *figure.veil_from;
  if (hovered && timeline && moved && drag_ != Drag::kGuess && known) view.set_cursor(x);
  if (hovered && scene_.guess && scene_.guess->contains({mouse.x, mouse.y}))
    ImGui::SetMouseCursor(scene_.guess_along_x ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
}

// Bands and rows light their kind everywhere; what does not fit on the thing itself is said in a tooltip.
void FigureCard::point_at(ImVec2 mouse) {
  pointed_at_.reset();
  for (const paint::HitArea& area : scene_.hits) {
    if (!area.rect.contains({mouse.x, mouse.y})) continue;
    if (area.category && !scene_.map.plot.contains({mouse.x, mouse.y})) pointed_at_ = area.category;
    if (!area.tip.empty()) tooltip(area.tip);
  }
}

void FigureCard::draw_measure(Frame& frame, const Rect& rect) {
  const auto range = frame.page.view().measure();
  if (!range || scene_.map.plot.width() <= 0) return;
  const paint::PlotMap& map = scene_.map;
  const float x0 = rect.x0 + std::clamp(map.x_px(range->begin), map.plot.x0, map.plot.x1);
  const float x1 = rect.x0 + std::clamp(map.x_px(range->end), map.plot.x0, map.plot.x1);
  const Rect area{x0, rect.y0 + map.plot.y0, x1, rect.y0 + map.plot.y1};
  fill(area, with_alpha(theme().ink, 0.10f));
  vertical_line(x0, area.y0, area.y1, theme().ink);
  vertical_line(x1, area.y0, area.y1, theme().ink);
  const auto measured = frame.page.measured();
  if (!measured) return;
  const std::string words = fmt::format("{}, {}, highest {}", in_axis_unit(map.x, measured->length),
                                        signed_bytes(measured->change), record::format_bytes(measured->peak));
  const float width = text_width(Face::kSemiBold, 12, words) + px(16);
  const float left = std::clamp(area.centre_x() - width * 0.5f, rect.x0 + map.plot.x0,
                                rect.x0 + std::max(map.plot.x0, map.plot.x1 - width));
  const Rect chip{left, area.y0 + px(6), left + width, area.y0 + px(28)};
  fill(chip, theme().ink, 4);
  text_in(Face::kSemiBold, 12, chip, theme().on_ink, words, 0.5f);
}

bool FigureCard::take_keys(Frame& frame) {
  if (!frame.ui.timeline_focus) return false;
  TimelineView& view = frame.page.view();
  const TimelineView::Range now = view.visible();
  const double middle = view.cursor() && *view.cursor() > now.begin && *view.cursor() < now.end
                            ? *view.cursor()
                            : (now.begin + now.end) / 2;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const bool home = owned_key(ImGuiKey_Home);  // the focus stays where it is
  if (pressed(ImGuiKey_W))
    view.zoom(middle, kKeyZoom);
  else if (pressed(ImGuiKey_S))
    view.zoom(middle, 1 / kKeyZoom);
  else if (pressed(ImGuiKey_A))
    view.pan(-now.length() * kKeyPan);
  else if (pressed(ImGuiKey_D))
    view.pan(now.length() * kKeyPan);
  else if (pressed(ImGuiKey_F))
    view.fit();
  else if (home)
    view.fit_all();
  else if (pressed(ImGuiKey_Period))
    frame.page.step_cursor(+1);
  else if (pressed(ImGuiKey_Comma))
    frame.page.step_cursor(-1);
  else
    return false;
  return true;
}

}  // namespace headroom::app::window
