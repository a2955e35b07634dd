#include "lessons/panels/diagram.h"

#include <nlohmann/json.hpp>

namespace headroom::lessons {
namespace {

std::string key_of(BoxState state) {
  switch (state) {
    case BoxState::kPlain:
      return "plain";
    case BoxState::kNotYet:
      return "not_yet";
    case BoxState::kAlive:
      return "alive";
    case BoxState::kRecomputed:
      return "recomputed";
    case BoxState::kFreed:
      return "freed";
    case BoxState::kSame:
      return "same";
    case BoxState::kChanged:
      return "changed";
    case BoxState::kZero:
      return "zero";
    case BoxState::kOne:
      return "one";
  }
  return "";
}

}  // namespace

std::string_view label_of(BoxState state) {
  switch (state) {
    case BoxState::kPlain:
      return "";
    case BoxState::kNotYet:
      return "not computed yet";
    case BoxState::kAlive:
      return "in memory";
    case BoxState::kRecomputed:
      return "in memory, computed again";
    case BoxState::kFreed:
      return "freed";
    case BoxState::kSame:
      return "the same";
    case BoxState::kChanged:
      return "changed";
    case BoxState::kZero:
      return "0";
    case BoxState::kOne:
      return "1";
  }
  return "";
}

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

std::vector<std::string> Diagram::sentences() const {
  std::vector<std::string> all{title};
  for (const DiagramBox& box : boxes) all.push_back(box.tip);
  return all;
}

}  // namespace headroom::lessons
