#include "lessons/panels/diagram.h"

#include <array>

#include <nlohmann/json.hpp>

namespace headroom::lessons {
namespace {

struct StateWords {
  const char *key, *label;
};
// Words by state.
constexpr std::array<StateWords, 9> kStates{{{"plain", ""},
                                             {"not_yet", "not computed yet"},
                                             {"alive", "in memory"},
                                             {"recomputed", "in memory, recomputed"},
                                             {"freed", "freed"},
                                             {"same", "the same"},
                                             {"changed", "changed"},
                                             {"zero", "0"},
                                             {"one", "1"}}};

std::string key_of(BoxState state) { return kStates[static_cast<std::size_t>(state)].key; }

}  // namespace

std::string_view label_of(BoxState state) { return kStates[static_cast<std::size_t>(state)].label; }

FileTable Diagram::table() const {
  FileTable table{.columns = headings({"box", "state", unit.c_str(), "what"})};
  for (const DiagramBox& box : boxes)
    table.rows.push_back({box.id, Word{key_of(box.state)}, box.value ? Cell(*box.value) : Cell(), box.tip});
  return table;
}

void Diagram::add_to(nlohmann::json& figure) const {
  using nlohmann::json;
  json all = json::array();
  for (const DiagramBox& box : boxes)
    all.push_back({{"id", box.id},
                   {"state", key_of(box.state)},
                   {"value", box.value ? json(*box.value) : json(nullptr)},
                   {"marked", box.marked},
                   {"what", box.tip}});
  figure["diagrams"].push_back({{"title", title}, {"unit", unit}, {"boxes", std::move(all)}});
}

std::vector<std::string> Diagram::sentences() const { return texts_of(boxes, &DiagramBox::tip, {title}); }

}  // namespace headroom::lessons
