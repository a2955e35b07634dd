// A parameter's control, made from its schema.
#include "app/window/widgets/param_control.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "app/page/settings/param_scale.h"
#include "app/window/draw/controls.h"
#include "imgui_internal.h"  // GetInputTextState, SetKeyOwner

namespace headroom::app::window {

namespace {

using record::ParamKind;
using record::ParamSpec;

struct Control {
  PageFrame& frame;
  ParamsOf of;
  const ParamSpec& spec;

  const record::Params& params() const {
    return of == ParamsOf::kFigure ? frame.page.figures().params() : frame.page.control().params();
  }
  std::string id() const { return name_of(of, spec.key); }
  void set(const std::string& value) const {
    const record::Status status = of == ParamsOf::kFigure ? frame.page.figures().set_param(spec.key, value)
                                                          : frame.page.set_param(spec.key, value);
    frame.state.settings.refused = status ? std::string() : status.error().message;
    frame.state.asked.run = frame.state.asked.trial = false;
  }
  std::string why_not(std::string_view value) const {
    return of == ParamsOf::kFigure ? std::string() : frame.page.control().why_not(spec.key, value);
  }
};

int stop_of(const Control& control, const std::vector<double>& stops) {
  return page::nearest_stop(stops, page::number_of(control.spec, control.params()));
}

void move_to_stop(const Control& control, const std::vector<double>& stops, int stop) {
  stop = std::clamp(stop, 0, static_cast<int>(stops.size()) - 1);
  if (stop != stop_of(control, stops))
    control.set(page::typed_value(control.spec, stops[static_cast<std::size_t>(stop)]));
}

void draw_field(const Control& control, const Rect& rect) {
  SettingsState& settings = control.frame.state.settings;
  const Rect field{rect.center_x(), rect.y0 - px(4), rect.x1, rect.y1 + px(4)};
  const bool done = text_field("value", field, settings.text, "", settings.focus);
  const bool left = !settings.focus && !ImGui::IsItemActive();  // Escape, or a click elsewhere
  // ImGui selects the whole text, so the next digit would replace those that opened the field.
  if (settings.typed && ImGui::IsItemActivated())
    if (ImGuiInputTextState* const text = ImGui::GetInputTextState(ImGui::GetItemID()))
      text->ReloadUserBufAndMoveToEnd();
  if (done || (left && settings.typed && !ImGui::IsKeyPressed(ImGuiKey_Escape, false))) control.set(settings.text);
  settings.focus = false;
  if (!done && !left) return;
  settings.editing.clear();
  settings.typed = false;
  if (settings.by_keys) focus_next();
}

// A drag moves the value as far as a drag of the slider would.
void scrub(const Control& control, const std::vector<double>& stops, float width) {
  SettingsState& settings = control.frame.state.settings;
  if (ImGui::IsItemActivated()) settings.scrubbed_from = stop_of(control, stops);
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left)) return;
  const float moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left).x / std::max(1.0f, width);
  move_to_stop(control, stops,
               settings.scrubbed_from + static_cast<int>(std::lround(moved * static_cast<float>(stops.size() - 1))));
}

// A click turns the value into a field.
void draw_editable_value(const Control& control, const Rect& rect, const std::vector<double>& stops) {
  SettingsState& settings = control.frame.state.settings;
  const ParamSpec& spec = control.spec;
  const record::Params& params = control.params();
  if (settings.editing == control.id()) return draw_field(control, rect);
  std::string value = page::shown_value(spec, params);
  // The unit is dropped if it would meet the label.
  const float room = rect.width() - text_width(Face::kMedium, 12, spec.label) - px(8);
  const auto too_wide = [&] { return text_width(Face::kSemiBold, 13, value) > room; };
  if (const auto count = static_cast<double>(spec.kind == ParamKind::kInteger ? params.integer(spec.key) : 0);
      too_wide() && count >= 1e6)
    value = fmt::format("{:.1f} M {}", count / 1e6, spec.unit);
  if (too_wide() && !spec.unit.empty() && value.ends_with(spec.unit)) value.resize(value.size() - spec.unit.size());
  const float width = text_width(Face::kSemiBold, 13, value);
  const Rect at{rect.x1 - width - px(4), rect.y0, rect.x1, rect.y1};
  text_in(Face::kSemiBold, 13, rect, theme().text, value, 1);
  const Hit edit = hit("edit", at);
  if (edit.focused) focus_ring(at, 4);
  if (edit.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (edit.focused && settings.takes_digits.empty()) settings.takes_digits = control.id();
  scrub(control, stops, rect.width());
  const ImGuiIO& io = ImGui::GetIO();
  const bool dragged = io.MouseDragMaxDistanceSqr[0] >= io.MouseDragThreshold * io.MouseDragThreshold;
  if (edit.clicked && (edit.focused || !dragged)) {
    settings.editing = control.id();
    settings.text = params.as_text(spec.key);
    settings.focus = true;
    settings.by_keys = edit.focused;
  } else if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) {
    tooltip("Click to type a value. Drag it, or turn the wheel, to change it");
  }
}

void draw_choice(const Control& control, const Rect& rect) {
  const ParamSpec& spec = control.spec;
  std::vector<std::string> labels, refused;
  int selected = 0;
  const std::span<const record::Choice> choices = record::choices_of(spec);
  const std::string value = control.params().as_text(spec.key);
  for (const record::Choice& choice : choices) {
    if (choice.key == value) selected = static_cast<int>(labels.size());
    labels.emplace_back(choice.label);
    refused.push_back(control.why_not(choice.key));
  }
  const bool side_by_side = labels.size() <= 3 && segmented_width(labels) <= rect.width();
  const bool changed = side_by_side ? segmented("choice", rect, labels, selected, refused)
                                    : select("choice", rect, labels, selected,
                                             spec.key == "device" ? Icon::kChip : Icon::kNone, refused);
  if (changed) control.set(std::string(choices[static_cast<std::size_t>(selected)].key));
}

// The prediction; empty if unknown.
std::optional<std::int64_t> largest_that_fits(const Control& control) {
  const StepPlan* const plan = control.of == ParamsOf::kPage ? page::plan_of(control.frame.page) : nullptr;
  if (plan == nullptr || plan->cards.empty() || !(plan->params == control.params())) return std::nullopt;
  if (control.spec.key == "batch") return plan->cards.front().largest_batch;
  return control.spec.key == "seq" ? plan->cards.front().largest_sequence : std::nullopt;
}

// The slider position half a stop before the first value that does not fit; beyond 1 if all fit.
float end_of_what_fits(const Control& control, const std::vector<double>& stops) {
  const std::optional<std::int64_t> largest = largest_that_fits(control);
  if (!largest || stops.size() < 2) return 2;
  const auto first =
      std::ranges::find_if(stops, [&](double stop) { return stop > static_cast<double>(*largest); }) - stops.begin();
  return (static_cast<float>(first) - 0.5f) / static_cast<float>(stops.size() - 1);
}

// One mark per run, which shows whether it fitted into the card's memory, unless that would answer the page's question.
std::vector<SliderMark> marks_of(const Control& control, const std::vector<double>& stops) {
  std::vector<SliderMark> marks;
  page::PageModel& page = control.frame.page;
  if (control.of != ParamsOf::kPage || control.spec.kind != ParamKind::kInteger || page.question().hides())
    return marks;
  for (const page::SettingMark& run : page::marks_of(page, control.spec.key)) {
    using Kind = page::SettingMark::Kind;
    const auto kind = run.kind == Kind::kRan    ? SliderMark::Kind::kTick
                      : run.kind == Kind::kFits ? SliderMark::Kind::kGood
                                                : SliderMark::Kind::kBad;
    marks.push_back({kind, static_cast<float>(page::place_of(stops, run.value))});
  }
  return marks;
}

void draw_number(const Control& control, const Rect& rect, const std::vector<double>& stops) {
  const int steps = static_cast<int>(stops.size());
  float position = steps > 1 ? static_cast<float>(stop_of(control, stops)) / static_cast<float>(steps - 1) : 0;
  if (slider("slider", rect, position, steps, end_of_what_fits(control, stops), marks_of(control, stops)))
    move_to_stop(control, stops, static_cast<int>(std::lround(position * static_cast<float>(steps - 1))));
  std::string& takes = control.frame.state.settings.takes_digits;
  if (takes.empty() && ImGui::IsItemFocused() && ImGui::GetIO().NavVisible) takes = control.id();
}

// The wheel and digits act on the slider that the mouse points at, in preference to the focused one.
void follow_pointer(const Control& control, const std::vector<double>& stops) {
  SettingsState& settings = control.frame.state.settings;
  settings.takes_digits = control.id();
  ImGui::SetKeyOwner(ImGuiKey_MouseWheelY, ImGui::GetItemID());  // instead of the window, which would scroll
  settings.wheel += ImGui::GetIO().MouseWheel;
  const int turned = static_cast<int>(settings.wheel);
  settings.wheel -= static_cast<float>(turned);
  if (turned != 0) move_to_stop(control, stops, stop_of(control, stops) + turned);
}

void draw_typed(const Control& control, const Rect& rect) {
  PageState& state = control.frame.state;
  const ParamSpec& spec = control.spec;
  const bool editing = state.settings.editing == control.id();
  const bool unset = page::is_unset(spec, control.params());
  std::string text = editing ? state.settings.text : unset ? std::string() : control.params().as_text(spec.key);
  const bool done = text_field("typed", rect, text, unset && !editing ? "" : spec.unit, false, spec.unset);
  if (ImGui::IsItemActive()) {
    state.settings.editing = control.id();
    state.settings.text = text;
  } else if (editing) {
    state.settings.editing.clear();
  }
  const bool emptied = text.empty() && spec.kind != ParamKind::kFile && !spec.unset.empty();
  if (done) control.set(emptied ? "0" : text);
}

// Shows a stored run's parameter, read-only.
void draw_fixed(const PageFrame& frame, const ParamSpec& spec, Rect cell) {
  draw_label(spec, cell.cut_top(px(kLabelHeight)));
  const std::string value = page::shown_value(spec, frame.page.control().params());
  text_fit(Face::kMedium, 13, cell.top(px(22)), theme().text, value);
}

}  // namespace

std::string name_of(ParamsOf of, std::string_view key) {
  return (of == ParamsOf::kFigure ? "figure " : "") + std::string(key);
}

bool is_sought(const PageState& state, ParamsOf of, const ParamSpec& spec) {
  return !state.sought.param.empty() && state.sought.param == name_of(of, spec.key);
}

void type_digits(SettingsState& settings) {
  const std::string takes = std::exchange(settings.takes_digits, {});
  if (ImGui::GetIO().WantTextInput) return;
  std::string digits;
  for (const ImWchar each : ImGui::GetIO().InputQueueCharacters)
    if (each >= '0' && each <= '9') digits += static_cast<char>(each);
  if (digits.empty() || (takes.empty() && !settings.typed)) return;
  if (!settings.typed) {
    settings.editing = takes;
    settings.text.clear();
    settings.focus = settings.typed = true;
    settings.by_keys = ImGui::GetIO().NavVisible;
  }
  settings.text += digits;  // the field takes keys from its second frame on
}

void draw_label(const ParamSpec& spec, const Rect& rect) {
  const Rect words = text_in(Face::kMedium, 12, rect, theme().text2, spec.label);
  if (pointed(words)) tooltip(spec.help);
}

void draw_param(PageFrame& frame, ParamsOf of, const ParamSpec& spec, Rect cell) {
  const Control control{frame, of, spec};
  ImGui::PushID(control.id().c_str());
  if (of == ParamsOf::kPage && !frame.page.control().fixed_settings().empty()) {
    draw_fixed(frame, spec, cell);
    ImGui::PopID();
    return;
  }
  const Rect label = cell.cut_top(px(kLabelHeight));
  draw_label(spec, label);
  const std::vector<double> stops = page::stops_of(spec);
  const bool wanted = is_sought(frame.state, of, spec);
  if (wanted && stops.size() < 2) focus_next();
  switch (spec.kind) {
    case ParamKind::kChoice:
    case ParamKind::kSwitch:
      draw_choice(control, cell);
      break;
    case ParamKind::kInteger:
    case ParamKind::kReal:
    case ParamKind::kBytes:
      if (stops.size() < 2) {
        draw_typed(control, cell);
      } else {
        draw_editable_value(control, label, stops);
        if (wanted) focus_next();
        draw_number(control, cell, stops);
        if (pointed({label.x0, label.y0, cell.x1, cell.y1})) follow_pointer(control, stops);
      }
      break;
    case ParamKind::kFile:
      draw_typed(control, cell);
      break;
  }
  ImGui::PopID();
}

}  // namespace headroom::app::window
