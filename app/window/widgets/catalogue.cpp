// The catalogue of widgets, and those of one page.
#include "app/window/widgets/widget.h"

#include <algorithm>
#include <array>

namespace headroom::app::window {

extern const Widget kCalculatorWidget, kKernelEditorWidget, kLadderWidget, kReportWidget, kSettingsWidget;

namespace {

constexpr std::array<const Widget*, 5> kWidgets{&kCalculatorWidget, &kKernelEditorWidget, &kLadderWidget,
                                                &kReportWidget, &kSettingsWidget};

const Widget* find_widget(std::string_view id) {
  const auto found = std::find_if(kWidgets.begin(), kWidgets.end(), [&](const Widget* each) { return each->id == id; });
  return found == kWidgets.end() ? nullptr : *found;
}

}  // namespace

std::span<const Widget* const> widgets() { return kWidgets; }

PageWidgets::PageWidgets(std::span<const std::string> ids, const WidgetHost& host) {
  for (const std::string& id : ids)
    if (const Widget* widget = find_widget(id)) views_.push_back(widget->make(host));
}

std::vector<WidgetView*> PageWidgets::in(Slot slot) const {
  std::vector<WidgetView*> found;
  for (const auto& view : views_)
    if (view->slot() == slot) found.push_back(view.get());
  return found;
}

bool PageWidgets::start_runs() const {
  return std::any_of(views_.begin(), views_.end(), [](const auto& view) { return view->starts_runs(); });
}

bool PageWidgets::run_button() const {
  return !start_runs() &&
         std::any_of(views_.begin(), views_.end(), [](const auto& view) { return view->has_run_button(); });
}

bool PageWidgets::have_figure_params() const {
  return std::any_of(views_.begin(), views_.end(), [](const auto& view) { return view->has_figure_params(); });
}

bool PageWidgets::edit(std::string_view key) const {
  return std::any_of(views_.begin(), views_.end(), [&](const auto& view) { return view->edits(key); });
}

std::string_view PageWidgets::empty_reason() const {
  for (const auto& view : views_)
    if (const std::string_view reason = view->empty_reason(); !reason.empty()) return reason;
  return {};
}

bool PageWidgets::running() const {
  return std::any_of(views_.begin(), views_.end(), [](const auto& view) { return view->running(); });
}

bool PageWidgets::poll() {
  bool changed = false;
  for (const auto& view : views_) changed = view->poll() || changed;
  return changed;
}

}  // namespace headroom::app::window
