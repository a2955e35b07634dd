// Parameters, declared once: the window draws its controls from a schema, the command line its flags, tests its
// extremes, and recordings store the values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class ParamKind : std::uint8_t { kInteger, kReal, kChoice, kSwitch, kBytes, kFile };

struct Choice {
  std::string_view key;    // "llama-3.2-1b", as typed
  std::string_view label;  // "Llama 3.2 1B", as shown
};

// One parameter. All text is constant data; a schema is a constexpr array of these.
struct ParamSpec {
  std::string_view key;    // "batch", as in --set batch=4
  std::string_view label;  // "Batch"
  std::string_view unit;   // "sequences"; may be empty
  std::string_view help;   // one line
  ParamKind kind = ParamKind::kInteger;
  double minimum = 0;  // numbers and bytes, inclusive
  double maximum = 0;
  double default_number = 0;      // numbers, bytes and switches (0 or 1)
  std::string_view default_text;  // choices (a key) and files (empty: none)
  std::span<const Choice> choices;
  bool logarithmic = false;      // a slider steps by doubling
  bool advanced = false;         // folded away behind "More" until asked for
  std::string_view needs_key;    // shown and used only while that parameter …
  std::string_view needs_value;  // … has this value, e.g. model=custom; or one of several: "lora|qlora"
};

using Schema = std::span<const ParamSpec>;
using ParamValue = std::variant<std::int64_t, double, bool, std::string>;  // bytes are int64, choices and files strings

// Values for a schema; every key of the schema is always present.
class Params {
 public:
  Params() = default;
  explicit Params(Schema schema);  // the defaults

  Schema schema() const { return schema_; }
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool on(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  bool has(std::string_view key) const;
  // False for a parameter that needs another one to have a certain value (`needs_key`) while that has not.
  bool in_use(std::string_view key) const;

  // Refuses an unknown key (naming the nearest one), a value of the wrong kind and one out of range.
  Status set(std::string_view key, std::string_view value_text);
  Status set(std::string_view key, const ParamValue& value);
  Status set(std::string_view key, const char* value_text) { return set(key, std::string_view(value_text)); }
  // "batch=4"
  Status set_assignment(std::string_view assignment);

  // The value as it is typed after `key=`; set(key, as_text(key)) changes nothing.
  std::string as_text(std::string_view key) const;
  // key → text, sorted; for messages, files and JSON.
  std::map<std::string, std::string> to_map() const;
  static Result<Params> from_map(Schema schema, const std::map<std::string, std::string>& map);

  bool operator==(const Params& other) const { return values_ == other.values_; }

 private:
  const ParamValue& at(std::string_view key) const;

  Schema schema_;
  std::map<std::string, ParamValue, std::less<>> values_;
};

}  // namespace headroom::record
