// The catalogue of widgets, and a page's widgets.
#include "app/window/widgets/widget.h"

#include <algorithm>
#include <array>

#include "lessons/pages/blocks/widget.h"

namespace headroom::app::window {

namespace {

constexpr std::array<const Widget*, 6> kWidgets{&kCalculatorWidget, &kKernelEditorWidget, &kLadderWidget,
                                                &kReportWidget,     &kSettingsWidget,     &kSweepWidget};

const Widget* find_widget(std::string_view id) {
  const auto found =
      std::find_if(kWidgets.begin(), kWidgets.end(), [&](const Widget* each) { return each->info->id == id; });
  return found == kWidgets.end() ? nullptr : *found;
}

}  // namespace

std::span<const Widget* const> widgets() { return kWidgets; }

PageWidgets::PageWidgets(const lessons::Page& page, const WidgetHost& host) {
  const auto make = [&](const std::string& id) -> WidgetView* {
    const Widget* widget = find_widget(id);
    return widget == nullptr ? nullptr : made_.emplace_back(Made{widget, widget->make(host)}).view.get();
  };
  for (const std::string& id : page.widgets) make(id);
  const auto find = [&](const std::vector<lessons::Block>& blocks) {
    for (const lessons::Block& block : blocks)
      if (const auto* widget = block.as<lessons::WidgetBlock>(); widget != nullptr && !among_words(widget->widget))
        if (WidgetView* view = make(widget->widget)) of_words_[widget->widget] = view;
  };
  find(page.front);
  for (const lessons::TourStep& step : page.more) find(step.blocks);
}

std::vector<WidgetView*> PageWidgets::in(Slot slot) const {
  const auto among = [&](const WidgetView* view) {
    return std::any_of(of_words_.begin(), of_words_.end(), [&](const auto& each) { return each.second == view; });
  };
  std::vector<WidgetView*> found;
  for (const auto& [widget, view] : made_)
    if (widget->slot == slot && !among(view.get())) found.push_back(view.get());
  return found;
}

WidgetView* PageWidgets::among_words(std::string_view id) const {
  const auto found = of_words_.find(id);
  return found == of_words_.end() ? nullptr : found->second;
}

std::string_view PageWidgets::empty_reason() const {
  for (const Made& each : made_)
    if (const std::string_view reason = each.widget->info->empty_reason; !reason.empty()) return reason;
  return {};
}

std::vector<OfferedParam> PageWidgets::offers(const PageFrame& frame) const {
  std::vector<OfferedParam> all;
  for (const Made& made : made_)
    for (const OfferedParam& each : made.view->offers(frame)) all.push_back(each);
  return all;
}

bool PageWidgets::poll() {
  bool changed = false;
  for (const Made& each : made_) changed = each.view->poll() || changed;
  return changed;
}

}  // namespace headroom::app::window
