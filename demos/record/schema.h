// Parameters, declared once: the window draws its controls from a schema, the command line its flags, tests its
// extremes, and recordings store the values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class ParamKind : std::uint8_t { kInteger, kReal, kChoice, kSwitch, kBytes, kFile };

// What a parameter decides.
enum class ParamRole : std::uint8_t {
  kRun,        // where, how long and on which files it runs
  kShape,      // what is computed: the model and the size of a batch
  kTechnique,  // how the same is computed
};

// What is done with the file, or folder, that a parameter names.
enum class FileUse : std::uint8_t {
  kNone,        // the parameter names none
  kText,        // read: UTF-8 text, or the ids of tokens
  kCheckpoint,  // read: a folder with a model's weights, or its config.json
  kSource,      // read, as CUDA C++
  kWritten,     // made by the run
  kNewFolder,   // a folder, made by the run
  kSaved,       // read: a folder that a run made, with its training state
};

struct Choice {
  std::string_view key;    // "llama-3.2-1b", as typed
  std::string_view label;  // "Llama 3.2 1B", as shown
};

// Values that only the kernels of this program compute.
struct OwnKernels {
  std::string_view values;   // "adamw_8bit|galore"; of a number one example, "1"; empty: there are none
  std::string_view instead;  // "adamw": what to take where these kernels cannot run
  bool composed = false;     // PyTorch's operators compute the same with `instead`, so that a run takes it by itself
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
  double default_number = 0;        // numbers, bytes and switches (0 or 1)
  std::string_view unset;           // how 0, or no file, is shown: "none"; empty: 0 is a value as any other
  std::string_view default_text;    // choices (a key) and files (empty: none)
  std::span<const Choice> choices;  // of a switch: only if "off" and "on" have other labels
  bool logarithmic = false;         // a slider steps by doubling
  bool advanced = false;            // folded away behind "More" until asked for
  std::string_view needs_key;       // shown and used only while that parameter …
  std::string_view needs_value;     // … has this value, e.g. model=custom; or one of several: "lora|qlora"
  std::string_view unless_key;      // overruled while that parameter names a file, e.g. weights
  std::string_view group;           // the heading that it is listed under; empty: the schema has no groups
  ParamRole role = ParamRole::kRun;
  FileUse file = FileUse::kNone;
  OwnKernels own_kernels;
};

// The values that a control offers: a choice's own, and off and on for a switch. Empty: another kind.
std::span<const Choice> choices_of(const ParamSpec& spec);
// How a value of such a parameter is shown; any other value as it is.
std::string_view label_of(const ParamSpec& spec, std::string_view value);
// Whether `alternatives`, parted by '|', name the value.
bool is_one_of(std::string_view value, std::string_view alternatives);

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
  bool on(std::string_view key) const;  // a switch
  const std::string& text(std::string_view key) const;
  bool has(std::string_view key) const;
  // False for a parameter that needs another one to have a certain value (`needs_key`) while that has not, and for one
  // that is overruled.
  bool in_use(std::string_view key) const;
  bool overruled(std::string_view key) const;  // by the file that `unless_key` names

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
  // Of a recording, which another version may have made: keys and values that this one lacks keep their defaults.
  static Params known_of(Schema schema, const std::map<std::string, std::string>& map);
  // What that leaves out, as "key=value"; not what only says how long a run is, on which files and where.
  static std::vector<std::string> unknown_in(Schema schema, const std::map<std::string, std::string>& map);

  bool operator==(const Params& other) const { return values_ == other.values_; }

 private:
  const ParamValue& at(std::string_view key) const;

  Schema schema_;
  std::map<std::string, ParamValue, std::less<>> values_;
};

}  // namespace headroom::record
