// Parameters, declared once for controls, command line flags, tests and recordings.
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

enum class ParamRole : std::uint8_t {
  kRun,        // where, for how long and on which files the demo runs
  kShape,      // the computation: model and batch
  kTechnique,  // how the same result is computed
};

// Use of a parameter's file or folder.
enum class FileUse : std::uint8_t {
  kNone,
  kText,        // read: UTF-8 text, or token ids
  kCheckpoint,  // read: a folder with weights, or a config.json
  kSource,      // read, as CUDA C++
  kWritten,     // created by the run
  kNewFolder,   // a folder created by the run
  kSaved,       // read: a folder saved by a run with its training state
};

struct Choice {
  std::string_view key;    // "llama-3.2-1b", as typed
  std::string_view label;  // "Llama 3.2 1B", as shown
};

// Values that need our kernels.
struct OwnKernels {
  std::string_view values;   // "adamw_8bit|galore"; for numbers an example, "1"; empty: none
  std::string_view instead;  // "adamw": replacement without these kernels
  bool composed = false;     // PyTorch's operators compute the same with `instead`
};

// All text is constant; a schema is a constexpr array of these.
struct ParamSpec {
  std::string_view key;  // "batch", as in --set batch=4
  std::string_view label;
  std::string_view unit;  // "sequences"; may be empty
  std::string_view help;  // one line
  ParamKind kind = ParamKind::kInteger;
  double minimum = 0;  // numbers and bytes, inclusive
  double maximum = 0;
  double default_number = 0;        // numbers, bytes and switches (0 or 1)
  std::string_view unset;           // text for 0 or no file: "none"; empty: 0 is an ordinary value
  std::string_view default_text;    // choices (a key) and files (empty: none)
  std::span<const Choice> choices;  // switches: only for labels other than "off" and "on"
  bool logarithmic = false;         // the slider's steps double the value
  bool advanced = false;            // hidden behind "More"
  std::string_view needs_key;       // shown and used only while this parameter …
  std::string_view needs_value;     // … has this value or one of several: "lora|qlora"
  std::string_view unless_key;      // not used while this parameter names a file, e.g. weights
  std::string_view group;           // heading; empty: none
  ParamRole role = ParamRole::kRun;
  FileUse file = FileUse::kNone;
  OwnKernels own_kernels;
};

// The values that a control offers: off and on for a switch; empty for other kinds.
std::span<const Choice> choices_of(const ParamSpec& spec);
// Values without a label are shown as they are.
std::string_view label_of(const ParamSpec& spec, std::string_view value);
// `alternatives` are separated by '|'.
bool is_one_of(std::string_view value, std::string_view alternatives);

using Schema = std::span<const ParamSpec>;
// Null if the schema lacks the key.
const ParamSpec* find_spec(Schema schema, std::string_view key);
using ParamValue = std::variant<std::int64_t, double, bool, std::string>;  // bytes are int64, choices and files strings

// Always has a value for every key of the schema.
class Params {
 public:
  Params() = default;
  explicit Params(Schema schema);

  Schema schema() const { return schema_; }
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool on(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  bool has(std::string_view key) const;
  // False if overruled, or if `needs_key` has another value.
  bool in_use(std::string_view key) const;
  bool overruled(std::string_view key) const;  // by the file of `unless_key`

  // Refuses unknown keys (suggesting the nearest one), wrong kinds and values out of range.
  Status set(std::string_view key, std::string_view value_text);
  Status set(std::string_view key, const ParamValue& value);
  Status set(std::string_view key, const char* value_text) { return set(key, std::string_view(value_text)); }
  // "batch=4"
  Status set_assignment(std::string_view assignment);

  // The text to type after `key=`; set(key, as_text(key)) is a no-op.
  std::string as_text(std::string_view key) const;
  std::map<std::string, std::string> to_map() const;
  static Result<Params> from_map(Schema schema, const std::map<std::string, std::string>& map);
  // For recordings of other versions: ignores unknown keys and values.
  static Params known_of(Schema schema, const std::map<std::string, std::string>& map);
  // The settings that known_of() ignores, as "key=value", except those of run parameters.
  static std::vector<std::string> unknown_in(Schema schema, const std::map<std::string, std::string>& map);

  bool operator==(const Params& other) const;

 private:
  const ParamValue& at(const ParamSpec& spec) const;
  const ParamValue& at(std::string_view key) const;
  bool in_use(const ParamSpec& spec) const;
  bool overruled(const ParamSpec& spec) const;

  Schema schema_;
  std::vector<ParamValue> values_;  // in the schema's order
};

}  // namespace headroom::record
