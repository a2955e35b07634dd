// The kernel editor.
#include "app/window/widgets/kernel_editor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/window/draw/controls.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "imgui_internal.h"  // the source's scrolling window
#include "misc/cpp/imgui_stdlib.h"

namespace headroom::app::window {

namespace {

using record::KernelReport;
using record::KernelVerdict;

constexpr float kEm = 13, kGutter = 44, kEditorPadding = 8;
constexpr float kHead = 32, kEditorGap = 8, kReport = 104, kFigure = 250;
constexpr float kRoomForBoth = 660;  // px; with less, source and figure take turns

Icon icon_of(KernelVerdict verdict) {
  return verdict == KernelVerdict::kRight      ? Icon::kCheck
         : verdict == KernelVerdict::kCompiled ? Icon::kInfo
                                               : Icon::kWarning;
}

// In the parameter `source`, source code has line breaks, a file name has none.
std::string as_parameter(const std::string& text) { return text.ends_with('\n') ? text : text + '\n'; }

std::string source_of(const record::Recording& recording) {
  const auto& params = recording.info().params;
  const auto given = params.find("source");
  if (given != params.end() && !given->second.empty()) return given->second;
  const auto id = params.find("exercise");
  const experiments::Exercise* exercise = id == params.end() ? nullptr : experiments::find_exercise(id->second);
  return exercise == nullptr ? std::string() : std::string(exercise->source);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::vector<std::int64_t> KernelEditor::marked_lines() const {
  std::vector<std::int64_t> lines;
  if (!report_ || !report_fits_) return lines;
  for (const record::CompilerMessage& message : report_->messages)
    if (message.error && message.line > 0) lines.push_back(message.line);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

// Follows the chosen exercise, its source and the shown run's report.
void KernelEditor::follow(page::PageModel& page) {
  const std::string& chosen = page.control().params().text("exercise");
  const page::RunOnShow* const shown = page.runs().shown_run();
  const record::Recording* const recording = shown == nullptr ? nullptr : shown->recording.get();
  const bool fixed = !page.control().fixed_settings().empty();
  if (fixed && recording != nullptr) {
    text_ = source_of(*recording);
    exercise_ = chosen;
  } else if (chosen != exercise_) {
    exercise_ = chosen;
    solution_ = false;
    const auto known = own_.find(chosen);
    text_ = known != own_.end() ? known->second : std::string(experiments::find_exercise(chosen)->source);
  }
  if (!fixed && page.control().params().text("source") != as_parameter(text_))
    (void)page.set_param("source", as_parameter(text_));
  report_.reset();
  if (recording == nullptr || !recording->kernel_report()) return;
  if (recording->kernel_report()->exercise != exercise_) return;  // about another exercise, such as the shipped run's
  report_ = recording->kernel_report();
  report_fits_ = as_parameter(source_of(*recording)) == as_parameter(text_);
}

void KernelEditor::draw_head(PageFrame& frame, Rect rect) {
  const experiments::Exercise& exercise = *experiments::find_exercise(exercise_);
  const bool fixed = !frame.page.control().fixed_settings().empty();
  float x = rect.x1;
  const auto from_right = [&](const char* id, const ButtonText& text, bool enabled) {
    const float width = button_width(text);
    const Rect at{x - width, rect.y0, x, rect.y1};
    x = at.x0 - px(kEditorGap);
    return button(id, at, text, ButtonKind::kGhost, enabled);
  };
  if (!fixed && from_right("start again", {"Start again", Icon::kNone, "", "The exercise's starting source"},
                           text_ != exercise.source)) {
    solution_ = false;
    text_ = exercise.source;
    own_.erase(exercise_);
  }
  if (!fixed && !exercise.solution.empty()) {
    const ButtonText there{"Show a solution", Icon::kNone, "", "One solution to read and run; your source is kept"};
    const ButtonText back{"Back to mine", Icon::kChevronLeft};
    if (from_right("solution", solution_ ? back : there, true)) {
      solution_ = !solution_;
      const auto known = own_.find(exercise_);
      text_ = solution_ ? exercise.solution : known != own_.end() ? std::string_view(known->second) : exercise.source;
    }
  }
  const float end = text_in(Face::kSemiBold, 13, rect, theme().text, fmt::format("{}.cu", exercise_)).x1;
  if (x - end > px(60)) {
    const std::string goal = shortened(Face::kRegular, 12, exercise.title, x - end - px(24));
    text_in(Face::kRegular, 12, {end + px(12), rect.y0, x, rect.y1}, theme().text2, goal);
  }
}

// Lines with an error are highlighted.
void KernelEditor::draw_lines(const Rect& gutter, const Rect& source, float line_height) const {
  const std::vector<std::int64_t> marked = marked_lines();
  const auto lines = 1 + std::count(text_.begin(), text_.end(), '\n');
  canvas()->PushClipRect(upper_left(gutter), lower_right(source), true);
  const float top = source.y0 + px(kEditorPadding) - scroll_y_;
  const auto first = static_cast<std::int64_t>(std::max(0.0f, std::floor((source.y0 - top) / line_height)));
  for (std::int64_t i = first; i < lines; ++i) {
    const float y = top + static_cast<float>(i) * line_height;
    if (y > source.y1) break;
    const Rect row{gutter.x0, y, gutter.x1 - px(6), y + line_height};
    const bool hit = std::find(marked.begin(), marked.end(), i + 1) != marked.end();
    if (hit) {
      fill({source.x0, y, source.x1, y + line_height}, theme().state.selected);
      fill(row, theme().ink, 4);
    }
    text_in(Face::kMono, 11, {row.x0, row.y0, row.x1 - px(6), row.y1}, hit ? theme().on_ink : theme().text3,
            std::to_string(i + 1), 1);
  }
  canvas()->PopClipRect();
}

void KernelEditor::draw_source(PageFrame& frame, const Rect& rect) {
  fill(rect, theme().canvas, 6);
  Rect source = rect;
  const Rect gutter = source.cut_left(px(kGutter));
  ImGui::PushFont(font_of(Face::kMono), font_size(Face::kMono, kEm));
  const float line_height = ImGui::GetFontSize();
  draw_lines(gutter, source, line_height);

  ImGui::SetCursorScreenPos(upper_left(source));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  ImGui::PushStyleColor(ImGuiCol_Border, 0);
  ImGui::PushStyleColor(ImGuiCol_NavCursor, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(4), px(kEditorPadding)));
  const bool fixed = !frame.page.control().fixed_settings().empty();
  const std::string before = text_;
  ImGui::InputTextMultiline("##source", &text_, size_of(source),
                            ImGuiInputTextFlags_AllowTabInput |
                                (fixed || solution_ ? ImGuiInputTextFlags_ReadOnly : ImGuiInputTextFlags_None));
  const bool active = ImGui::IsItemActive();
  // Escape leaves the editor, but must not undo the typing, as ImGui would.
  if (ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) text_ = before;
  const ImVector<ImGuiWindow*>& inside = ImGui::GetCurrentWindow()->DC.ChildWindows;
  if (!inside.empty()) {
    ImGuiWindow* scrolled = inside.back();
    if (go_to_ > 0) ImGui::SetScrollY(scrolled, std::max(0.0f, static_cast<float>(go_to_ - 3) * line_height));
    go_to_ = 0;
    scroll_y_ = scrolled->Scroll.y;
  }
  ImGui::PopStyleVar();
  ImGui::PopStyleColor(3);
  ImGui::PopFont();
  outline(rect, active ? theme().focus : theme().control, 6, active ? 2 : 1);
  if (text_ == before || fixed || solution_) return;
  own_[exercise_] = text_;
  (void)frame.page.set_param("source", as_parameter(text_));  // now, because the next key may be Run's
}

// A click on a compiler message goes to its line.
void KernelEditor::draw_report(const PageFrame& frame, const Rect& rect) {
  ImGui::SetCursorScreenPos(upper_left(rect));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  if (ImGui::BeginChild("kernel report", size_of(rect), ImGuiChildFlags_NavFlattened)) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x - px(6);
    float y = at.y + px(2);
    if (!report_) {
      const bool running = frame.page.control().running();
      y = paragraph(Face::kRegular, 13, 1.5f, {at.x, y, right, 0}, theme().text2,
                    running ? "Compiling." : "Run compiles this source and, with a GPU, runs it.");
    } else {
      draw_icon(icon_of(report_->verdict), at.x + px(9), y + px(10), theme().text, 16);
      const std::string_view stale = report_fits_ ? "" : " (For the source that was run.)";
      y = paragraph(Face::kMedium, 13, 1.5f, {at.x + px(26), y, right, 0}, theme().text,
                    report_->sentence + std::string(stale));
      int index = 0;
      for (const record::CompilerMessage& message : report_->messages) {
        const std::string place = message.line > 0 ? fmt::format("Line {}", message.line) : std::string("Source");
        const Rect row{at.x + px(26), y, right, y + px(22)};
        const Hit state = hit(fmt::format("message {}", index++).c_str(), row, message.line > 0);
        if (state.hovered) fill(row, theme().state.hover, 4);
        if (state.focused) focus_ring(row, 4);
        if (state.clicked) go_to_ = message.line;
        text_in(Face::kSemiBold, 12, row, theme().text, place);
        const Rect words{row.x0 + px(64), row.y0, row.x1, row.y1};
        const std::string said = (message.error ? "" : "warning: ") + first_line(message.text);
        text_fit(Face::kMono, 12, words, theme().text2, said);
        if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) tooltip(message.text);
        y = row.y1;
      }
      std::string takes = fmt::format("{}, {}", report_->compiler, report_->architecture);
      for (const record::KernelResources& kernel : report_->kernels)
        takes += fmt::format("; {}: {} registers, {} shared, {} stack, {} spilled", kernel.name, kernel.registers,
                             record::format_bytes(kernel.shared), record::format_bytes(kernel.stack),
                             record::format_bytes(kernel.spilled));
      y = paragraph(Face::kRegular, 12, 1.5f, {at.x + px(26), y + px(2), right, 0}, theme().text3, takes);
    }
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({right - at.x, y - at.y});
  }
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
}

void KernelEditor::draw_editor(PageFrame& frame, const Rect& head, Rect rect) {
  draw_head(frame, head);
  const Rect report = rect.cut_bottom(px(kReport));
  rect.cut_bottom(px(kEditorGap));
  draw_source(frame, rect);
  draw_report(frame, report);
}

void KernelEditor::draw(PageFrame& frame, Rect& rect) {
  follow(frame.page);
  if (rect.height() >= px(kRoomForBoth)) {
    Rect below = rect;
    rect = below.cut_bottom(px(kFigure));
    below.cut_bottom(px(2 * kEditorGap));
    const Rect head = below.cut_top(px(kHead));
    below.cut_top(px(kEditorGap));
    draw_editor(frame, head, below);
    return;
  }
  const std::vector<std::string> faces{"Source", "Speed"};
  int face = figure_face_ ? 1 : 0;
  if (segmented("kernel face", rect.top(px(28)).left(px(150)), faces, face)) figure_face_ = face == 1;
  if (figure_face_) {
    rect.cut_top(px(28 + kEditorGap));
    return;
  }
  const Rect head{rect.x0 + px(166), rect.y0, rect.x1, rect.y0 + px(28)};
  rect.cut_top(px(28 + kEditorGap));
  draw_editor(frame, head, rect);
  rect = {};
}

constinit const Widget kKernelEditorWidget{
    &lessons::kKernelEditorWidget, Slot::kBesideFigure,
    [](const WidgetHost&) -> std::unique_ptr<WidgetView> { return std::make_unique<KernelEditor>(); }};

}  // namespace headroom::app::window
