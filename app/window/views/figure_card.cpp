// A page's figure in its card.
#include "app/window/views/figure_card.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/page/words/page_words.h"
#include "app/window/draw/controls.h"
#include "app/window/widgets/widget.h"
#include "imgui_internal.h"  // SetItemKeyOwner: the timeline takes the wheel from scrolling

namespace headroom::app::window {

namespace {

constexpr double kWheelZoom = 0.85;  // factor per notch
constexpr float kGrab = 9;           // px around the guess's line that grab it
// A guess held beyond its axis grows by kGuessRise of the axis per second; a frame counts for at most kLongestRise
// seconds.
constexpr float kGuessRise = 1, kLongestRise = 0.1f;

std::string in_axis_unit(const lessons::Axis& axis, double value) {
  return axis.unit == lessons::AxisUnit::kNanoseconds ? lessons::amount_text(value, lessons::unit_of(axis))
                                                      : record::format_count(std::llround(value)) + " events";
}

bool has_time(const lessons::FigureData& figure) {
  return lessons::panel_of<lessons::Timeline>(figure) != nullptr ||
         lessons::panel_of<lessons::Lanes>(figure) != nullptr;
}

std::optional<double> hidden_from(const lessons::FigureData& figure) {
  const auto* timeline = lessons::panel_of<lessons::Timeline>(figure);
  return timeline == nullptr ? std::nullopt : timeline->hidden_from;
}

void draw_empty(PageFrame& frame, const Rect& rect, const lessons::FigureData& figure) {
  const page::PageModel& page = frame.page;
  const bool of_run = page.figures().shown().basis == lessons::Basis::kRun;
  const bool can_run = of_run && page::can_run(page) && !page.shows_prediction() && frame.widgets.run_button();
  std::string reason = figure.head.empty_reason;
  if (page.runs().all().empty() && of_run) {
    const std::string_view of_widget = frame.widgets.empty_reason();
    reason = !of_widget.empty() ? std::string(of_widget)
             : can_run          ? "No run is stored for this page. Press Run to record one on this machine."
                                : "No run is stored for this page (assets/recordings). " +
                             (page.control().fixed_settings().empty() ? page::why_no_engine(page)
                                                                      : page.control().fixed_settings());
  }
  if (page.shows_prediction())
    reason = page.forecast().why_none();
  else if (page.control().running())
    reason = "The first step is running.";
  if (empty_state(rect, "Nothing to show yet", reason, can_run ? "Run" : "")) start_run(frame);
}

}  // namespace

paint::Frame FigureCard::frame_of(const PageFrame& frame, ImVec2 size) {
  const bool wide = frame.density == Density::kWide;
  return frame_for(size, !wide,
                   {.header = false,
                    .plot = true,
                    .alive = frame.density != Density::kNarrow,
                    .levels = wide,
                    .rungs = !frame.page.figures().draws_ladder(),
                    .search = true});
}

void FigureCard::lay_out(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const LaidOutFor now{
      frame.page.figures().revision(), size_of(rect), look().scale, look().theme, frame.state.lit, marked_};
  if (now == laid_out_for_) return;
  paint::Frame layout = frame_of(frame, size_of(rect));
  layout.lit = frame.state.lit;
  layout.marked = marked_;
  layout.answered = frame.page.figures().answered();
  scene_ = paint::layout(figure, layout);
  laid_out_for_ = now;
  ++layouts_;
  if (scene_.map.plot.width() > 0) plot_width_ = scene_.map.plot.width();
}

void FigureCard::draw_picture(PageFrame& frame, const Rect& whole) {
  const bool had_focus = std::exchange(frame.state.timeline_focus, false);  // restored below if there is a timeline
  const lessons::FigureData& figure = frame.page.figure(columns());
  const page::Question& question = frame.page.question();
  if (question.hides() && !question.spec()->figure.empty() &&
      frame.page.figures().shown().id != question.spec()->figure) {
    empty_state(whole, "This figure shows the answer", "Lock your answer first, or skip it.", "");
    return;
  }
  if (!figure.head.empty_reason.empty()) {
    draw_empty(frame, whole, figure);
    return;
  }
  Rect rect = whole;
  const std::string no_lanes =
      frame.widgets.run_button() && !frame.ui.stage ? page::why_no_lanes(frame.page) : std::string();
  if (!no_lanes.empty()) {
    const Rect line = rect.cut_bottom(px(30));
    if (!question.hides()) draw_trace_line(frame, line, no_lanes);
  }
  lay_out(frame, figure, rect);
  canvas()->PushClipRect(upper_left(rect), lower_right(rect), true);
  paint_scene(*canvas(), scene_, upper_left(rect));
  draw_measure(frame, rect);
  if (page::awaits_prediction(frame.page)) draw_awaited(rect, "Computing the prediction");
  if (const page::RunOnShow* const shown = frame.page.figures().until_run()) {
    if (shown->recording->info().source >= record::Source::kRecorded)
      draw_awaited(rect, "Running; this is the previous run");
    else
      draw_words_over(plot_in(rect), "Running; this is the prediction");
  }
  canvas()->PopClipRect();
  if (scene_.map.plot.width() > 0 && has_time(figure)) frame.state.timeline_focus = had_focus;
  draw_search(frame, figure, rect);
  draw_marks(frame, figure, rect);
  interact(frame, figure, rect);
}

void FigureCard::draw_trace_line(PageFrame& frame, const Rect& rect, std::string_view why) const {
  const std::string why_tiny = page::why_not_here(frame.page);
  const bool here = why_tiny.empty();
  const std::string tip = here ? "Runs these settings again and records every kernel"
                               : why_tiny + ": the tiny model runs the same step on this CPU, operator by operator";
  const ButtonText text{here ? "Trace this run" : "Trace tiny here", Icon::kNone, "", tip};
  const float width = std::min(text_width(Face::kRegular, 12, why), rect.width());
  text_fit(Face::kRegular, 12, rect, theme().text2, why);
  if (!page::why_no_engine(frame.page).empty()) return;
  const float left = rect.x0 + width + px(10), right = left + button_width(text);
  if (right > rect.x1) return;
  const Rect at{left, rect.center_y() - px(13), right, rect.center_y() + px(13)};
  if (button("trace", at, text, ButtonKind::kSecondary, page::can_run(frame.page))) page::trace(frame.page, frame.now);
}

// Enter shows the next match, Shift+Enter the previous.
void FigureCard::draw_search(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const auto* lanes = lessons::panel_of<lessons::Lanes>(figure);
  had_lanes_ = scene_.search.has_value() && lanes != nullptr;
  if (!had_lanes_) return;
  page::TimelineView& view = frame.page.figures().view();
  const Rect at = scene_.search->moved({rect.x0, rect.y0});
  const std::size_t count = lanes->found.size(), now = frame.page.figures().found_at();
  const std::string words = view.find().empty() ? std::string()
                            : count == 0        ? std::string("none")
                            : now == count      ? fmt::format("{} found", count)
                                                : fmt::format("{} of {}", now + 1, count);
  std::string text = view.find();
  const bool entered = text_field("find", at, text, words, std::exchange(wants_search_, false), "Find a kernel");
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    tooltip("By the model's name or CUDA's (Ctrl F); Enter: next, Shift Enter: previous");
  if (text != view.find())
    view.find(std::move(text));
  else if (entered && ImGui::IsKeyDown(ImGuiKey_Enter)) {
    frame.page.figures().find_next(ImGui::GetIO().KeyShift ? -1 : +1);
    wants_search_ = true;  // ready for the next Enter
  }
}

void FigureCard::select_at(PageFrame& frame, ImVec2 mouse) const {
  if (!scene_.lanes || !scene_.lanes->contains({mouse.x, mouse.y})) return;
  std::optional<std::size_t> kernel;
  for (const paint::HitArea& area : scene_.hits)
    if (area.span && area.rect.contains({mouse.x, mouse.y})) kernel = area.span;
  frame.page.figures().view().select(kernel);
}

void FigureCard::draw_drawer(PageFrame& frame, const Rect& rect) {
  const lessons::FigureData& figure = frame.page.figure(columns());
  fill({rect.x0, rect.y0 + px(2), rect.x1 + px(2), rect.y1 + px(4)}, theme().shade.shadow, 8);
  fill(rect, theme().raised, 8);
  outline(rect, theme().control, 8);
  const Rect inner = rect.inset(px(12));
  const paint::Frame layout = frame_for(size_of(inner), true, {.header = false, .plot = false, .levels = false});
  paint_scene(*canvas(), paint::layout(figure, layout), upper_left(inner));
}

void FigureCard::start_drag(PageFrame& frame, const lessons::FigureData& figure, ImVec2 mouse) {
  const paint::PlotMap& map = scene_.map;
  drag_ = has_time(figure) ? Drag::kMeasure : Drag::kNone;
  drag_from_ = map.x_at(mouse.x);
  frame.page.figures().view().set_measure(std::nullopt);
  if (!figure.head.guess_open) return;
  const bool on_pill = scene_.guess && scene_.guess->contains({mouse.x, mouse.y});
  const auto hidden = hidden_from(figure);
  const bool open = hidden ? mouse.x > map.x_px(*hidden) : !has_time(figure);
  const auto off = [&](double guess) {
    return scene_.guess_along_x ? mouse.x - map.x_px(guess) : mouse.y - map.y_px(guess);
  };
  const bool on_line = open && figure.head.guess && std::abs(off(*figure.head.guess)) < px(kGrab);
  if (on_pill || on_line) drag_ = Drag::kGuess;
}

// While the mouse is beyond the axis's end, guess and axis grow.
void FigureCard::drag_guess(PageFrame& frame, ImVec2 mouse) const {
  page::Question& question = frame.page.question();
  // A click is no guess.
  if (!question.guess() && !ImGui::IsMouseDragPastThreshold(ImGuiMouseButton_Left)) return;
  const paint::PlotMap& map = scene_.map;
  const lessons::Axis& axis = scene_.guess_along_x ? map.x : map.y;
  double part =
      scene_.guess_along_x ? (mouse.x - map.plot.x0) / map.plot.width() : (map.plot.y1 - mouse.y) / map.plot.height();
  if (part > 1 && !question.guess()) part = 1;
  if (part > 1)
    part = lessons::part_of(axis, *question.guess()) + kGuessRise * std::min(ImGui::GetIO().DeltaTime, kLongestRise);
  question.set_guess(lessons::value_at(axis, std::max(part, 0.0)));
}

void FigureCard::interact(PageFrame& frame, const lessons::FigureData& figure, const Rect& rect) {
  const paint::PlotMap& map = scene_.map;
  page::TimelineView& view = frame.page.figures().view();
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 mouse{io.MousePos.x - rect.x0, io.MousePos.y - rect.y0};  // in scene coordinates
  point_at(ImGui::IsWindowHovered() && rect.contains({io.MousePos.x, io.MousePos.y}) ? mouse : ImVec2{-1, -1});
  act_on_boxes(frame, scene_, rect);
  if (map.plot.width() <= 0) return;  // bars have nothing to zoom

  ImGui::SetCursorScreenPos({rect.x0 + map.plot.x0, rect.y0 + map.plot.y0});
  ImGui::PushStyleColor(ImGuiCol_NavCursor, 0);
  const float bottom = scene_.lanes ? scene_.lanes->y1 : map.plot.y1;  // lanes move with the plot
  ImGui::InvisibleButton(
      "timeline", {map.plot.width(), bottom - map.plot.y0},
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_EnableNav);
  ImGui::PopStyleColor();
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const bool hovered = ImGui::IsItemHovered();
  if (io.NavVisible) frame.state.timeline_focus = ImGui::IsItemFocused();
  if (frame.state.timeline_focus && io.NavVisible) {
    focus_ring({rect.x0 + map.plot.x0, rect.y0 + map.plot.y0, rect.x0 + map.plot.x1, rect.y0 + bottom}, 0);
  }
  const bool moved = io.MouseDelta.x != 0 || io.MouseDelta.y != 0;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) || (hovered && moved)) frame.state.timeline_focus = hovered;

  if (ImGui::IsItemActivated()) {
    if (ImGui::IsMouseDown(ImGuiMouseButton_Right))
      drag_ = Drag::kPan;
    else if (ImGui::IsMouseDown(ImGuiMouseButton_Left))
      start_drag(frame, figure, mouse);
  }
  const bool click = ImGui::IsItemDeactivated() && drag_ == Drag::kMeasure && !view.measure();
  if (click) select_at(frame, mouse);
  if (!ImGui::IsItemActive()) drag_ = Drag::kNone;
  const bool timeline = has_time(figure);  // otherwise only the guess can be dragged
  if (!timeline) {
    frame.state.timeline_focus = false;
    if (drag_ != Drag::kGuess) drag_ = Drag::kNone;
  }
  const auto hidden = hidden_from(figure);
  const double x = map.x_at(std::clamp(mouse.x, map.plot.x0, map.plot.x1));
  switch (drag_) {
    case Drag::kGuess:
      drag_guess(frame, mouse);
      break;
    case Drag::kMeasure:
      // Hidden data cannot be measured.
      if (const double to = std::min(x, hidden.value_or(x));
          drag_from_ < hidden.value_or(HUGE_VAL) && ImGui::IsMouseDragPastThreshold(ImGuiMouseButton_Left))
        view.set_measure(page::TimelineView::Range{std::min(to, drag_from_), std::max(to, drag_from_)});
      break;
    case Drag::kPan:
      view.pan(-static_cast<double>(io.MouseDelta.x) / map.plot.width() * view.visible().length());
      break;
    case Drag::kNone:
      break;
  }
  if (hovered && timeline && io.MouseWheel != 0) view.zoom(x, std::pow(kWheelZoom, io.MouseWheel));
  const bool known = !hidden || x < *hidden;
  if (hovered && timeline && moved && drag_ != Drag::kGuess && known) view.set_cursor(x);
  if (hovered && scene_.guess && scene_.guess->contains({mouse.x, mouse.y}))
    ImGui::SetMouseCursor(scene_.guess_along_x ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
}

// Bands and rows highlight their kind everywhere; tooltips show text that does not fit.
void FigureCard::point_at(ImVec2 mouse) {
  pointed_at_.reset();
  marked_.reset();
  for (const paint::HitArea& area : scene_.hits) {
    if (!area.rect.contains({mouse.x, mouse.y})) continue;
    if (area.category && !scene_.map.plot.contains({mouse.x, mouse.y})) pointed_at_ = area.category;
    if (area.mark) marked_ = area.mark;
    if (!area.tip.empty()) tooltip(area.tip);
  }
}

// Inner boxes come first.
void act_on_boxes(PageFrame& frame, const paint::Scene& scene, const Rect& rect) {
  for (std::size_t i = 0; i < scene.hits.size(); ++i) {
    const paint::HitArea& area = scene.hits[i];
    if (!area.action && area.settings.empty()) continue;
    const Rect at = area.rect.moved({rect.x0, rect.y0});
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetNextItemAllowOverlap();
    const Hit state = hit("box", at);
    ImGui::PopID();
    if (state.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (state.focused) focus_ring(at, 2);
    if (!state.clicked) continue;
    if (area.action) (void)frame.page.figures().set_param(area.action->key, area.action->value);
    record::Params wanted = frame.page.settings();
    for (const lessons::SetParam& each : area.settings)
      if (wanted.has(each.key)) (void)wanted.set(each.key, std::string_view(each.value));
    if (!area.settings.empty()) frame.page.adopt(wanted);
  }
}

void FigureCard::draw_measure(PageFrame& frame, const Rect& rect) {
  const auto range = frame.page.figures().view().measure();
  if (!range || scene_.map.plot.width() <= 0) return;
  const paint::PlotMap& map = scene_.map;
  const float x0 = rect.x0 + std::clamp(map.x_px(range->begin), map.plot.x0, map.plot.x1);
  const float x1 = rect.x0 + std::clamp(map.x_px(range->end), map.plot.x0, map.plot.x1);
  const Rect area{x0, rect.y0 + map.plot.y0, x1, rect.y0 + (scene_.lanes ? scene_.lanes->y1 : map.plot.y1)};
  fill(area, faded(theme().ink, 0.10f));
  vertical_line(x0, area.y0, area.y1, theme().ink);
  vertical_line(x1, area.y0, area.y1, theme().ink);
  const auto measured = frame.page.measured();
  if (!measured) return;
  const lessons::ShownUnit bytes = lessons::unit_of(map.y);
  const std::string words =
      fmt::format("{}, {}, highest {}", in_axis_unit(map.x, measured->length),
                  lessons::change_text(measured->change, bytes), lessons::bytes_text(measured->peak, bytes));
  const auto draw_chip = [&](const std::string& text, float y) {
    const float width = text_width(Face::kSemiBold, 12, text) + px(16);
    const float left = std::clamp(area.center_x() - width * 0.5f, rect.x0 + map.plot.x0,
                                  rect.x0 + std::max(map.plot.x0, map.plot.x1 - width));
    const Rect chip{left, y, left + width, y + px(22)};
    fill(chip, theme().ink, 4);
    text_in(Face::kSemiBold, 12, chip, theme().on_ink, text, 0.5f);
  };
  draw_chip(words, area.y0 + px(6));
  const auto* lanes = lessons::panel_of<lessons::Lanes>(frame.page.figure(columns()));
  if (lanes != nullptr && !lanes->marked.empty()) draw_chip(lanes->marked, area.y0 + px(32));
}

// Returns `rect` itself if there is no plot.
Rect FigureCard::plot_in(const Rect& rect) const {
  const Rect& plot = scene_.map.plot;
  return plot.width() <= 0 ? rect : plot.moved({rect.x0, rect.y0});
}

// Covers a picture drawn for other settings.
void FigureCard::draw_awaited(const Rect& rect, std::string_view words) const {
  const Rect area = plot_in(rect);
  fill(area, faded(theme().canvas, 0.6f));
  hatch(area, faded(theme().text3, 0.5f), 9, 1.1f);
  draw_words_over(area, words);
}

void FigureCard::draw_words_over(const Rect& area, std::string_view words) {
  const float half = text_width(Face::kSemiBold, 13, words) * 0.5f + px(12);
  const Rect chip{area.center_x() - half, area.center_y() - px(15), area.center_x() + half, area.center_y() + px(15)};
  fill(chip, theme().raised, 6);
  outline(chip, theme().control, 6);
  text_in(Face::kSemiBold, 13, chip, theme().text, words, 0.5f);
}

}  // namespace headroom::app::window
