// Writes a figure as one JSON document.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/paint/files/writers.h"
#include "headroom_build.h"

namespace headroom::app::paint {
namespace {

using lessons::FigureData;
using nlohmann::json;

json provenance_of(const lessons::FigureHead& head) {
  return {{"program", fmt::format("headroom {}", build::kVersion)},
          {"figure", head.id},
          {"title", head.title},
          {"source", record::key_of(head.source)},
          {"run", head.provenance_line},
          {"caption", head.caption},
          {"provenance", head.provenance}};
}

json axis(const lessons::Axis& axis) {
  return {{"unit", lessons::key_of(axis.unit)}, {"low", axis.low}, {"high", axis.high}};
}

}  // namespace

std::string provenance_json(const FigureData& figure) {
  return provenance_of(figure.head).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string to_json(const FigureData& figure) {
  const lessons::FigureHead& head = figure.head;
  json document = provenance_of(head);
  const lessons::Axes axes = lessons::axes_of(figure);
  document["x"] = axis(axes.x);
  document["y"] = axis(axes.y);
  if (!head.empty_reason.empty()) document["empty_reason"] = head.empty_reason;
  for (const lessons::Panel& panel : figure.panels)
    std::visit([&document](const auto& kind) { kind.add_to(document); }, panel);
  if (head.frames > 0) document["frames"] = head.frames;
  if (head.guess) document["guess_bytes"] = lessons::whole_bytes(*head.guess);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace headroom::app::paint
