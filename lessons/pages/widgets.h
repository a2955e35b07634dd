// Widgets of pages. The window makes each from its id.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::lessons {

struct WidgetInfo {
  std::string_view id;
  std::string_view summary;
  bool runs = true;          // needs a demo; else for pages with a schema
  bool makes_sweep = false;  // the page's sweep
};

inline constexpr std::array<WidgetInfo, 6> kWidgets{
    {{"settings", "the settings of the page's demo, and Run"},
     {"calculator", "settings that the figures follow by closed form, without a run", false},
     {"ladder", "techniques to drag into an order and run one by one"},
     {"kernel_editor", "the source of a kernel to edit, compile and run"},
     {"report", "runs the report's experiment"},
     {"sweep", "runs the page's sweep, point by point", true, true}}};

// Null: unknown.
inline const WidgetInfo* find_widget(std::string_view id) {
  const auto* const found =
      std::find_if(kWidgets.begin(), kWidgets.end(), [&](const WidgetInfo& each) { return each.id == id; });
  return found == kWidgets.end() ? nullptr : found;
}

}  // namespace headroom::lessons
