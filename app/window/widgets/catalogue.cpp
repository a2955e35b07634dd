// The catalogue of widgets, and those of one page.
#include "app/window/widgets/widget.h"

#include <algorithm>
#include <array>

namespace headroom::app::window {

extern const Widget kKernelEditorWidget, kLadderWidget, kReportWidget, kSettingsWidget;

namespace {

constexpr std::array<const Widget*, 4> kWidgets{&kKernelEditorWidget, &kLadderWidget, &kReportWidget, &kSettingsWidget};

}  // namespace

std::span<const Widget* const> widgets() { return kWidgets; }

PageWidgets::PageWidgets(std::span<const std::string> ids, const WidgetHost& host) {
  for (const std::string& id : ids) {
    const auto found =
        std::find_if(kWidgets.begin(), kWidgets.end(), [&](const Widget* each) { return each->id == id; });
    if (found != kWidgets.end()) views_.push_back((*found)->make(host));
  }
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
