// Converts structs to JSON and back, for text chunks and messages. A struct lists its fields once, in fields(io,
// row), for a JsonWriter or JsonReader. Reading checks types and ranges, and ignores unknown fields.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/text.h"
#include "demos/record/units.h"

namespace headroom::record {

using nlohmann::json;

// Form of text that is not UTF-8, such as file names. JSON gets replacement characters. MessagePack gets binary values
// in maps of texts, elsewhere '?' for every byte beyond ASCII.
enum class Form { kJson, kMessagePack };

inline json binary(std::string_view bytes) {
  return json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

// Replaces bytes that are not UTF-8 instead of throwing.
inline std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

// {"weights": 4, …}
json to_object(const ByCategory& amounts);

class JsonWriter {
 public:
  explicit JsonWriter(Form form) : form_(form) {}

  json take() { return std::move(object_); }
  // The first field that a reader would refuse.
  const std::string& wrong() const { return wrong_; }

  void text(const char* key, const std::string& value) {
    object_[key] = form_ == Form::kMessagePack ? as_utf8(value) : value;
  }
  void texts(const char* key, const std::map<std::string, std::string>& map) {
    json& object = object_[key] = json::object();
    for (const auto& [name, value] : map) {
      const bool as_binary = form_ == Form::kMessagePack && !valid_utf8(value);
      object[form_ == Form::kMessagePack ? as_utf8(name) : name] = as_binary ? binary(value) : json(value);
    }
  }
  template <class Int>
  void whole(const char* key, Int value, std::int64_t highest, std::int64_t lowest = 0) {
    check(value >= lowest && value <= highest, key);
    object_[key] = value;
  }
  template <class Int>
  void later_whole(const char* key, Int value, std::int64_t highest, std::int64_t lowest = 0) {
    whole(key, value, highest, lowest);
  }
  void counter(const char* key, std::uint64_t value) { object_[key] = value; }
  void real(const char* key, double value, double lowest = 0, double highest = std::numeric_limits<double>::max()) {
    check(value >= lowest && value <= highest, key);
    object_[key] = value;
  }
  // An optional measurement: negative in the struct, null in JSON.
  void measured(const char* key, double value) { object_[key] = value >= 0 ? json(value) : json(); }
  void measured(const char* key, std::int64_t value, std::int64_t highest) {
    check(value <= highest, key);
    object_[key] = value >= 0 ? json(value) : json();
  }
  void real(const char* key, const std::optional<double>& value) { object_[key] = value ? json(*value) : json(); }
  void flag(const char* key, bool value) { object_[key] = value; }
  template <class Enum>
  void choice(const char* key, Enum value, int) {
    object_[key] = key_of(value);
  }
  void by_category(const char* key, const ByCategory& amounts) {
    for (const Bytes amount : amounts) check(amount >= 0 && amount <= kMostBytes, key);
    object_[key] = to_object(amounts);
  }
  template <class Number>
  void numbers(const char* key, const std::vector<Number>& values, std::size_t most, double highest) {
    check(values.size() <= most, key);
    for (const Number value : values) check(value >= 0 && static_cast<double>(value) <= highest, key);
    object_[key] = values;
  }
  void bytes(const char* key, const std::vector<std::byte>& value) {
    object_[key] = binary({reinterpret_cast<const char*>(value.data()), value.size()});
  }
  template <class Struct>
  void object(const char* key, Struct& value) {
    object_[key] = nested(value);
  }
  template <class Struct>
  void object(const char* key, std::optional<Struct>& value) {
    if (value) object(key, *value);
  }
  template <class Struct>
  void objects(const char* key, std::vector<Struct>& values) {
    json& array = object_[key] = json::array();
    for (Struct& value : values) array.push_back(nested(value));
  }
  void check(bool holds, const char* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }

 private:
  template <class Struct>
  json nested(Struct& value) {
    JsonWriter writer(form_);
    fields(writer, value);
    json object = writer.take();
    if (wrong_.empty() && !writer.wrong_.empty()) wrong_ = writer.wrong_ + " of " + dump(object);
    return object;
  }

  Form form_;
  json object_ = json::object();
  std::string wrong_;
};

// Reads named values of an object and remembers the first error; later values keep their defaults. `where` names the
// object, as in "chunk: bytes is missing".
class JsonReader {
 public:
  JsonReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) reason_ = where_ + " is not a map";
  }

  bool ok() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }
  void refuse(std::string_view key, std::string_view what) {
    if (ok()) reason_ = fmt::format("{}: {} {}", where_, key, what);
  }

  void text(const char* key, std::string& value) {
    if (const json* const field = find(key, &json::is_string, "is not text")) value = field->get<std::string>();
  }
  void texts(const char* key, std::map<std::string, std::string>& map) {
    const json* const field = find(key, &json::is_object, "is not a map");
    if (field == nullptr) return;
    for (const auto& [name, value] : field->items()) {
      if (value.is_string())
        map[name] = value.get<std::string>();
      else if (value.is_binary())
        map[name] = std::string(value.get_binary().begin(), value.get_binary().end());
      else
        refuse(std::string(key) + "." + name, "is not text");
    }
  }
  template <class Int>
  void whole(const char* key, Int& value, std::int64_t highest, std::int64_t lowest = 0) {
    const json* const field = find(key, &json::is_number_integer, "is not an integer");
    if (field == nullptr) return;
    // nlohmann::json stores non-negative numbers as unsigned. Compare before converting, or 2^64 − 1 would become −1.
    const bool fits = field->is_number_unsigned()
                          ? highest >= 0 && field->get<std::uint64_t>() <= static_cast<std::uint64_t>(highest)
                          : field->get<std::int64_t>() <= highest;
    if (!fits || field->get<std::int64_t>() < lowest) return refuse_range(key, lowest, highest);
    value = static_cast<Int>(field->get<std::int64_t>());
  }
  // Older files lack the field, and the value keeps its default.
  template <class Int>
  void later_whole(const char* key, Int& value, std::int64_t highest, std::int64_t lowest = 0) {
    if (ok() && object_.contains(key)) whole(key, value, highest, lowest);
  }
  void counter(const char* key, std::uint64_t& value) {
    if (const json* const field = find(key, &json::is_number_unsigned, "is not a non-negative integer"))
      value = field->get<std::uint64_t>();
  }
  void real(const char* key, double& value, double lowest = 0, double highest = std::numeric_limits<double>::max()) {
    const json* const field = find(key, &json::is_number, "is not a number");
    if (field == nullptr) return;
    const double read = field->get<double>();
    if (!(read >= lowest && read <= highest)) return refuse_range(key, lowest, highest);  // refuses NaN, too
    value = read;
  }
  void measured(const char* key, double& value) {
    value = -1;
    if (const json* const field = find(key); field != nullptr && !field->is_null()) real(key, value);
  }
  void measured(const char* key, std::int64_t& value, std::int64_t highest) {
    value = -1;
    if (const json* const field = find(key); field != nullptr && !field->is_null()) whole(key, value, highest);
  }
  void real(const char* key, std::optional<double>& value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    value.reset();
    if (const json* const field = find(key); field != nullptr && !field->is_null())
      real(key, value.emplace(), -kMost, kMost);
  }
  void flag(const char* key, bool& value) {
    if (const json* const field = find(key, &json::is_boolean, "is not a boolean")) value = field->get<bool>();
  }
  template <class Enum>
  void choice(const char* key, Enum& value, int count) {
    std::string name;
    text(key, name);
    if (!ok()) return;
    for (int i = 0; i < count; ++i)
      if (key_of(static_cast<Enum>(i)) == name) return void(value = static_cast<Enum>(i));
    refuse(key, "is unknown: " + record::quoted(name));
  }
  void by_category(const char* key, ByCategory& amounts) {
    const json* const field = find(key, &json::is_object, "is not a map");
    if (field == nullptr) return;
    JsonReader reader(*field, key);
    for (std::size_t i = 0; i < amounts.size(); ++i)
      reader.whole(std::string(key_of(static_cast<Category>(i))).c_str(), amounts[i], kMostBytes);
    take_reason(key, reader);
  }
  // Numbers from 0 to `highest`.
  template <class Number>
  void numbers(const char* key, std::vector<Number>& values, std::size_t most, double highest) {
    const json* const field = find(key, &json::is_array, "is not an array");
    if (field == nullptr) return;
    if (field->size() > most) return refuse(key, "is too long");
    values.clear();
    for (const json& item : *field) {
      const bool number = std::is_integral_v<Number> ? item.is_number_unsigned() : item.is_number();
      if (!number || !(item.get<double>() >= 0 && item.get<double>() <= highest))
        return refuse(key, "has an impossible number");
      values.push_back(item.get<Number>());
    }
  }
  void bytes(const char* key, std::vector<std::byte>& value) {
    const json* const field = find(key, &json::is_binary, "is not binary");
    if (field == nullptr) return;
    const auto* const first = reinterpret_cast<const std::byte*>(field->get_binary().data());
    value.assign(first, first + field->get_binary().size());
  }
  template <class Struct>
  void object(const char* key, Struct& value) {
    const json* const field = find(key);
    if (field == nullptr) return;
    JsonReader reader(*field, key);
    fields(reader, value);
    take_reason(key, reader);
  }
  template <class Struct>
  void object(const char* key, std::optional<Struct>& value) {
    value.reset();
    if (ok() && object_.contains(key)) object(key, value.emplace());
  }
  template <class Struct>
  void objects(const char* key, std::vector<Struct>& values) {
    const json* const field = find(key, &json::is_array, "is not an array");
    if (field == nullptr) return;
    values.clear();
    for (const json& item : *field) {
      JsonReader reader(item, key);
      fields(reader, values.emplace_back());
      take_reason(key, reader);
      if (!ok()) return;
    }
  }
  void check(bool holds, const char* what) {
    if (!holds) refuse(what, "cannot be");
  }

 private:
  const json* find(const char* key) {
    if (!ok()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    refuse(key, "is missing");
    return nullptr;
  }
  const json* find(const char* key, bool (json::*is)() const noexcept, const char* wrong) {
    const json* const field = find(key);
    if (field == nullptr || (field->*is)()) return field;
    refuse(key, wrong);
    return nullptr;
  }
  template <class Number>
  void refuse_range(const char* key, Number lowest, Number highest) {
    refuse(key, fmt::format("is not in {} … {}", lowest, highest));
  }
  void take_reason(const char* key, const JsonReader& part) {
    if (!part.ok()) refuse(key, "is bad: " + part.reason());
  }

  const json& object_;
  std::string where_;
  std::string reason_;
};

// `wrong` gets the first field that a reader would refuse.
template <class Struct>
json to_object(const Struct& value, Form form, std::string* wrong = nullptr) {
  Struct copy = value;  // fields() needs a mutable value
  JsonWriter writer(form);
  fields(writer, copy);
  if (wrong != nullptr) *wrong = writer.wrong();
  return writer.take();
}

template <class Struct>
std::string to_json(const Struct& value) {
  return dump(to_object(value, Form::kJson));
}

// True if the text nests deeper than 8 levels. Checked before parsing, so that a million brackets cost nothing.
bool nests_too_deep(std::string_view text);
// nullopt if the text is not an object or nests too deep.
std::optional<json> parse_object(std::string_view text);

// nullopt if the text is not an object, or a value is missing or invalid.
template <class Struct>
std::optional<Struct> from_json(std::string_view text) {
  const std::optional<json> object = parse_object(text);
  if (!object) return std::nullopt;
  Struct value;
  JsonReader reader(*object, "text");
  fields(reader, value);
  return reader.ok() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace headroom::record
