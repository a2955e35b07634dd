// Reads a widget's id.
#include "lessons/pages/blocks/widget.h"

#include <fmt/format.h>

#include "lessons/pages/page_reader.h"
#include "lessons/pages/widgets.h"

namespace headroom::lessons {

std::string why_no_widget(std::string_view id, const Page& page) {
  const WidgetInfo* const widget = find_widget(id);
  if (widget != nullptr && widget->runs_sweep && page.sweep.empty())
    return fmt::format("The widget {} needs a line \"sweep: KEY=VALUE,VALUE\".", id);
  if (widget != nullptr && widget->calculates == calculates(page)) return {};
  if (widget != nullptr)
    return fmt::format("The widget {} is for pages with a {}.", id, widget->calculates ? "schema" : "demo");
  return unknown("widget", id, names_of(kWidgets, &WidgetInfo::id));
}

std::string words_of_widget(std::string_view id) {
  const WidgetInfo* const widget = find_widget(id);
  return widget == nullptr ? std::string() : fmt::format("Interactive in the window: {}.", widget->summary);
}

constinit const BlockType kWidgetBlock{
    .name = "widget",
    .parse =
        [](BlockSource& source) {
          const std::string& id = source.part.text;
          if (const std::string why = why_no_widget(id, source.page); !why.empty()) source.complain(why);
          return std::any(WidgetBlock{id});
        },
    .printed =
        [](const std::any& content) { return words_of_widget(std::any_cast<const WidgetBlock&>(content).widget); }};

}  // namespace headroom::lessons
