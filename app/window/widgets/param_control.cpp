// One parameter of the demo as a control, made from its schema.
#include "app/window/widgets/param_control.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_model.h"
#include "app/page/param_scale.h"
#include "app/window/draw/controls.h"

namespace headroom::app::window {

namespace {

using record::ParamKind;
using record::ParamSpec;

void set_value(PageFrame& frame, const ParamSpec& spec, const std::string& value) {
  const record::Status status = frame.page.set_param(spec.key, value);
  frame.state.refused_value = status ? std::string() : status.error().message;
}

// The value at the right of the label; a double click turns it into a field.
void draw_editable_value(PageFrame& frame, const ParamSpec& spec, const Rect& rect) {
  PageState& state = frame.state;
  std::string value = page::shown_value(spec, frame.page.control().params());
  if (state.editing_param == spec.key) {
    const Rect field{rect.center_x(), rect.y0 - px(4), rect.x1, rect.y1 + px(4)};
    if (text_field("value", field, state.param_text, "", state.param_focus)) {
      set_value(frame, spec, state.param_text);
      state.editing_param.clear();
    } else if (!state.param_focus && !ImGui::IsItemActive()) {
      state.editing_param.clear();  // Escape, or a click elsewhere
    }
    state.param_focus = false;
    return;
  }
  // Where it would meet the label, the unit gives way.
  const float room = rect.width() - text_width(Face::kMedium, 12, spec.label) - px(8);
  const auto too_wide = [&] { return text_width(Face::kSemiBold, 13, value) > room; };
  if (const auto count =
          static_cast<double>(spec.kind == ParamKind::kInteger ? frame.page.control().params().integer(spec.key) : 0);
      too_wide() && count >= 1e6)
    value = fmt::format("{:.1f} M {}", count / 1e6, spec.unit);
  if (too_wide() && !spec.unit.empty() && value.ends_with(spec.unit)) value.resize(value.size() - spec.unit.size());
  const float width = text_width(Face::kSemiBold, 13, value);
  const Rect at{rect.x1 - width - px(4), rect.y0, rect.x1, rect.y1};
  text_in(Face::kSemiBold, 13, rect, theme().text, value, 1);
  const Hit edit = hit("edit", at);
  if (edit.focused) focus_ring(at, 4);
  const bool asked =
      (edit.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) || (edit.clicked && edit.focused);
  if (asked) {
    state.editing_param = spec.key;
    state.param_text = frame.page.control().params().as_text(spec.key);
    state.param_focus = true;
  } else if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) {
    tooltip("Double click to type a value");
  }
}

void draw_choice(PageFrame& frame, const ParamSpec& spec, const Rect& rect) {
  std::vector<std::string> labels, refused;
  int selected = 0;
  const std::span<const record::Choice> choices = record::choices_of(spec);
  const std::string value = frame.page.control().params().as_text(spec.key);
  for (const record::Choice& choice : choices) {
    if (choice.key == value) selected = static_cast<int>(labels.size());
    labels.emplace_back(choice.label);
    refused.push_back(frame.page.control().why_not(spec.key, choice.key));
  }
  const bool side_by_side = labels.size() <= 3 && segmented_width(labels) <= rect.width();
  const bool changed = side_by_side ? segmented("choice", rect, labels, selected, refused)
                                    : select("choice", rect, labels, selected,
                                             spec.key == "device" ? Icon::kChip : Icon::kNone, refused);
  if (changed) set_value(frame, spec, std::string(choices[static_cast<std::size_t>(selected)].key));
}

void draw_number(PageFrame& frame, const ParamSpec& spec, const Rect& rect, const std::vector<double>& stops) {
  const record::Params& params = frame.page.control().params();
  const int steps = static_cast<int>(stops.size());
  const int before = page::nearest_stop(stops, page::number_of(spec, params));
  float position = steps > 1 ? static_cast<float>(before) / static_cast<float>(steps - 1) : 0;
  if (!slider("slider", rect, position, steps)) return;
  const int now = static_cast<int>(std::lround(position * static_cast<float>(steps - 1)));
  if (now != before) set_value(frame, spec, page::typed_value(spec, stops[static_cast<std::size_t>(now)]));
}

void draw_typed(PageFrame& frame, const ParamSpec& spec, const Rect& rect) {
  PageState& state = frame.state;
  const bool editing = state.editing_param == spec.key;
  std::string text = editing ? state.param_text : frame.page.control().params().as_text(spec.key);
  const std::string_view hint = spec.kind == ParamKind::kFile ? page::without_file(spec) : std::string_view();
  const bool done = text_field("typed", rect, text, spec.unit, false, hint);
  if (ImGui::IsItemActive()) {
    state.editing_param = spec.key;
    state.param_text = text;
  } else if (editing) {
    state.editing_param.clear();
  }
  if (done) set_value(frame, spec, text);
}

// A parameter of a stored run: to read, not to change.
void draw_fixed(const PageFrame& frame, const ParamSpec& spec, Rect cell) {
  draw_label(spec, cell.cut_top(px(kLabelHeight)));
  const std::string value = page::shown_value(spec, frame.page.control().params());
  text_in(Face::kMedium, 13, cell.top(px(22)), theme().text, shortened(Face::kMedium, 13, value, cell.width()));
}

}  // namespace

void draw_label(const ParamSpec& spec, const Rect& rect) {
  const Rect words = text_in(Face::kMedium, 12, rect, theme().text2, spec.label);
  if (ImGui::IsMouseHoveringRect(upper_left(words), lower_right(words)) && ImGui::IsWindowHovered()) tooltip(spec.help);
}

void draw_param(PageFrame& frame, const ParamSpec& spec, Rect cell) {
  ImGui::PushID(spec.key.data(), spec.key.data() + spec.key.size());
  if (!frame.page.control().fixed_settings().empty()) {
    draw_fixed(frame, spec, cell);
    ImGui::PopID();
    return;
  }
  const Rect label = cell.cut_top(px(kLabelHeight));
  draw_label(spec, label);
  const std::vector<double> stops = page::stops_of(spec);
  switch (spec.kind) {
    case ParamKind::kChoice:
    case ParamKind::kSwitch:
      draw_choice(frame, spec, cell);
      break;
    case ParamKind::kInteger:
    case ParamKind::kReal:
    case ParamKind::kBytes:
      if (stops.size() < 2) {
        draw_typed(frame, spec, cell);
      } else {
        draw_editable_value(frame, spec, label);
        draw_number(frame, spec, cell, stops);
      }
      break;
    case ParamKind::kFile:
      draw_typed(frame, spec, cell);
      break;
  }
  ImGui::PopID();
}

}  // namespace headroom::app::window
