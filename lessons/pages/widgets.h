// Widgets of pages: what each is and offers. The window builds them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace headroom::lessons {

struct WidgetInfo {
  std::string_view id;
  std::string_view summary;
  // For pages with a schema: the widget has the figure's parameters, which the figure's head then omits.
  bool calculates = false;
  bool runs_step = false;              // has Run for the page's settings
  bool runs_sweep = false;             // has Run for the page's sweep, next to the Run for settings
  bool starts_runs = false;            // starts other runs: the page has no Run and shows only its first settings
  std::string_view edits = {};         // key of the edited setting; empty: none
  std::string_view empty_reason = {};  // of the figure without a run; empty: the usual reason
};

inline constexpr WidgetInfo kSettingsWidget{
    .id = "settings", .summary = "the settings of the page's demo, and Run", .runs_step = true};
inline constexpr WidgetInfo kCalculatorWidget{
    .id = "calculator",
    .summary = "settings that the figures follow by closed form, without a run",
    .calculates = true};
inline constexpr WidgetInfo kLadderWidget{
    .id = "ladder", .summary = "techniques to drag into an order and run one by one", .starts_runs = true};
inline constexpr WidgetInfo kKernelEditorWidget{
    .id = "kernel_editor", .summary = "the source of a kernel to edit, compile and run", .edits = "source"};
inline constexpr WidgetInfo kReportWidget{
    .id = "report",
    .summary = "runs the report's experiment",
    .starts_runs = true,
    .empty_reason = "No report is stored for this page. \"Run the report\" makes one on this machine."};
inline constexpr WidgetInfo kSweepWidget{
    .id = "sweep", .summary = "runs the page's sweep, point by point", .runs_sweep = true};

inline constexpr std::array kWidgets{&kSettingsWidget,     &kCalculatorWidget, &kLadderWidget,
                                     &kKernelEditorWidget, &kReportWidget,     &kSweepWidget};

inline const WidgetInfo* find_widget(std::string_view id) {
  const auto* const found = std::ranges::find(kWidgets, id, &WidgetInfo::id);
  return found == kWidgets.end() ? nullptr : *found;
}

}  // namespace headroom::lessons
