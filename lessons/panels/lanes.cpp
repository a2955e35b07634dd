#include "lessons/panels/lanes.h"

#include <array>

#include <nlohmann/json.hpp>

namespace headroom::lessons {
namespace {

using nlohmann::json;

std::string key_of(Work work) {
  constexpr std::array kKeys{"fused", "product", "other", "copy", "host", "zone", "gather", "sum", "held"};
  return kKeys.at(static_cast<std::size_t>(work));
}

}  // namespace

FileTable Lanes::table() const {
  FileTable table{.columns = headings({"row", "begin_ns", "end_ns", "kind", "count", "bytes", "what"})};
  for (const Lane& lane : lanes)
    for (const TimeBox& box : lane.boxes)
      table.rows.push_back({lane.label, box.begin, box.end, Word{key_of(box.work)}, std::int64_t{box.count},
                            box.bytes >= 0 ? Cell(box.bytes) : Cell(), box.tip});
  return table;
}

void Lanes::add_to(json& figure) const {
  for (const Lane& lane : lanes) {
    json boxes = json::array();
    for (const TimeBox& box : lane.boxes)
      boxes.push_back({{"begin", box.begin},
                       {"end", box.end},
                       {"kind", key_of(box.work)},
                       {"count", box.count},
                       {"name", box.label},
                       {"what", box.tip}});
    figure["rows"].push_back({{"label", lane.label}, {"note", lane.note}, {"boxes", std::move(boxes)}});
  }
}

std::vector<std::string> Lanes::sentences() const { return texts_of(lanes, &Lane::note); }

}  // namespace headroom::lessons
