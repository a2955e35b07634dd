// RunInfo and Outcome to JSON and back. Reading checks every type and range; fields that are not known are skipped.
#include "demos/record/run_text.h"

#include <array>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "demos/record/columns.h"  // kMostBytes

namespace headroom::record {
namespace {

using nlohmann::json;

// Paths may hold bytes that are not UTF-8; they become the replacement character instead of an exception.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// Checked before parsing, so that a million brackets cost nothing.
bool nests_too_deep(std::string_view text) {
  constexpr int kDeepest = 8;
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\')
      ++at;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '[') && ++depth > kDeepest)
      return true;
    else if (!in_string && (c == '}' || c == ']'))
      --depth;
  }
  return false;
}

std::optional<json> parse(std::string_view text) {
  if (nests_too_deep(text)) return std::nullopt;
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_object() ? std::optional<json>(std::move(value)) : std::nullopt;
}

// Takes named values out of one JSON object; ok() is false once one was missing or wrong.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) { ok_ = object.is_object(); }

  bool ok() const { return ok_; }

  const json* find(const char* key) {
    const auto found = ok_ ? object_.find(key) : object_.end();
    if (!ok_ || found == object_.end()) return missing();
    return &*found;
  }
  std::string text(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_string()) return missing(), "";
    return value->get<std::string>();
  }
  std::int64_t whole(const char* key, std::int64_t highest) {
    const json* const value = find(key);
    // Numbers that do not fit int64 are unsigned or real in this library.
    if (value == nullptr || !value->is_number_integer()) return missing(), 0;
    const bool fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= static_cast<std::uint64_t>(highest)
                                                  : value->get<std::int64_t>() >= 0;
    return fits ? value->get<std::int64_t>() : (missing(), 0);
  }
  template <class Enum>
  Enum choice(const char* key, int count) {
    const std::string name = text(key);
    for (int i = 0; i < count; ++i)
      if (ok_ && key_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
    return missing(), Enum{};
  }
  std::map<std::string, std::string> texts(const char* key) {
    const json* const value = find(key);
    if (value == nullptr || !value->is_object()) return missing(), std::map<std::string, std::string>{};
    std::map<std::string, std::string> map;
    for (const auto& [name, item] : value->items()) {
      if (!item.is_string()) return missing(), map;
      map.emplace(name, item.get<std::string>());
    }
    return map;
  }

 private:
  std::nullptr_t missing() {
    ok_ = false;
    return nullptr;
  }

  const json& object_;
  bool ok_ = true;
};

constexpr int kNumSources = 4;
constexpr int kNumOutcomes = 6;

json to_object(const OutOfMemoryFacts& facts) {
  json by_category = json::object();
  for (int i = 0; i < kNumCategories; ++i)
    by_category[std::string(key_of(static_cast<Category>(i)))] = facts.by_category[static_cast<std::size_t>(i)];
  return {{"requested", facts.requested},
          {"allocated", facts.allocated},
          {"reserved", facts.reserved},
          {"limit", facts.limit},
          {"op", facts.op},
          {"phase", key_of(facts.phase)},
          {"layer", facts.layer},
          {"by_category", by_category}};
}

std::optional<OutOfMemoryFacts> facts_from(const json& object) {
  Fields fields(object);
  OutOfMemoryFacts facts;
  facts.requested = fields.whole("requested", kMostBytes);
  facts.allocated = fields.whole("allocated", kMostBytes);
  facts.reserved = fields.whole("reserved", kMostBytes);
  facts.limit = fields.whole("limit", kMostBytes);
  facts.op = fields.text("op");
  facts.phase = fields.choice<Phase>("phase", kNumPhases);
  facts.layer = static_cast<std::uint16_t>(fields.whole("layer", kNoLayer));
  const json* const by_category = fields.find("by_category");
  if (by_category == nullptr) return std::nullopt;
  Fields amounts(*by_category);
  for (int i = 0; i < kNumCategories; ++i)
    facts.by_category[static_cast<std::size_t>(i)] =
        amounts.whole(std::string(key_of(static_cast<Category>(i))).c_str(), kMostBytes);
  return fields.ok() && amounts.ok() ? std::optional(facts) : std::nullopt;
}

}  // namespace

std::string_view key_of(OutcomeKind outcome) {
  static constexpr std::array<std::string_view, kNumOutcomes> kKeys = {"completed", "out_of_memory", "cancelled",
                                                                       "refused",   "engine_lost",   "failed"};
  return kKeys.at(static_cast<std::size_t>(outcome));
}

std::string to_json(const RunInfo& info) {
  return dump({{"demo", info.demo},
               {"params", json(info.params)},
               {"provenance", json(info.provenance)},
               {"device", key_of(info.device)},
               {"source", key_of(info.source)},
               {"cap", info.cap},
               {"device_memory", info.device_memory}});
}

std::string to_json(const Outcome& outcome) {
  json object = {{"kind", key_of(outcome.kind)}, {"message", outcome.message}};
  if (outcome.out_of_memory) object["out_of_memory"] = to_object(*outcome.out_of_memory);
  return dump(object);
}

std::optional<RunInfo> run_info_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  RunInfo info;
  info.demo = fields.text("demo");
  info.params = fields.texts("params");
  info.provenance = fields.texts("provenance");
  info.device = fields.choice<DeviceKind>("device", kNumDeviceKinds);
  info.source = fields.choice<Source>("source", kNumSources);
  info.cap = fields.whole("cap", kMostBytes);
  info.device_memory = fields.whole("device_memory", kMostBytes);
  return fields.ok() ? std::optional(info) : std::nullopt;
}

std::optional<Outcome> outcome_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  Outcome outcome;
  outcome.kind = fields.choice<OutcomeKind>("kind", kNumOutcomes);
  outcome.message = fields.text("message");
  if (const auto facts = object->find("out_of_memory"); facts != object->end()) {
    outcome.out_of_memory = facts_from(*facts);
    if (!outcome.out_of_memory) return std::nullopt;
  }
  return fields.ok() ? std::optional(outcome) : std::nullopt;
}

}  // namespace headroom::record
