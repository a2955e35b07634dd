#include "lessons/wording.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/predict/step_settings.h"
#include "demos/record/file/first_steps.h"
#include "demos/record/find.h"
#include "demos/record/run_recordings.h"
#include "demos/record/text.h"

namespace headroom::lessons {
namespace {

// The schema's label of a choice, or the value itself.
std::string shown(const record::RunInfo& info, const std::string& key) {
  const std::string value = value_of(info.params, key);
  const record::ParamSpec* const spec = find_spec(schema_of(info), key);
  return spec == nullptr ? value : std::string(record::label_of(*spec, value));
}

// Empty if this program does not have the demo or its parameters.
record::Params params_of(const record::RunInfo& info) {
  auto params = record::Params::from_map(schema_of(info), info.params);
  return params ? std::move(params).value() : record::Params{};
}

std::string in_words(const record::Params& params, std::string_view key) {
  const record::ParamSpec* const spec = find_spec(params.schema(), key);
  if (spec == nullptr) return std::string(key);
  return fmt::format("{} “{}”", spec->label, record::label_of(*spec, params.as_text(key)));
}

std::string grouped_digits(const std::string& digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? record::format_count(number) : digits;
}

// "checkpointing every layer", "storage bf16"; empty if off or automatic.
std::string technique_taken(const record::ParamSpec& spec, const std::string& value) {
  const bool named = spec.default_text == "off" || spec.default_text == "auto";
  if (!named || value.empty() || value == spec.default_text) return {};
  return record::in_lower_case(spec.label) + " " + std::string(record::label_of(spec, value));
}

// Shape beyond model, batch and sequence: "RMSNorm", "dropout", or a number that is not the default, "key/value heads
// 8".
bool is_part_of_shape(const record::ParamSpec& spec) {
  constexpr std::array<std::string_view, 3> kNamedAlready{"model", "batch", "seq"};
  return spec.role == record::ParamRole::kShape && std::ranges::find(kNamedAlready, spec.key) == kNamedAlready.end();
}
std::string part_of_shape(const record::ParamSpec& spec, const std::string& value) {
  if (spec.kind == record::ParamKind::kChoice) return std::string(record::label_of(spec, value));
  if (spec.kind == record::ParamKind::kSwitch) return value == "on" ? record::in_lower_case(spec.label) : std::string();
  const bool number = spec.kind == record::ParamKind::kInteger && !value.empty();
  if (!number || value == std::to_string(std::llround(spec.default_number))) return {};
  return fmt::format("{} {}", record::in_lower_case(spec.label), grouped_digits(value));
}

}  // namespace

record::RunInfo run_with(const record::Params& train_step) {
  record::RunInfo run;
  run.demo = experiments::training_step().id;
  run.params = train_step.to_map();
  return run;
}

record::Params step_params_of(const record::RunInfo& info) {
  return record::Params::known_of(experiments::training_step().schema, info.params);
}

bool is_one_step(const record::Recording& recording) {
  return experiments::trains(recording.info().demo) && recording.sweep_points().empty();
}

std::string value_of(const std::map<std::string, std::string>& map, std::string_view key) {
  const auto found = map.find(std::string(key));
  return found == map.end() ? std::string() : found->second;
}

record::Schema schema_of(const record::RunInfo& info) {
  const experiments::DemoInfo* const demo = experiments::find_demo(info.demo);
  return demo == nullptr ? record::Schema() : demo->schema;
}

std::string settings_line(const record::RunInfo& info) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string text) {
    if (!text.empty()) parts.push_back(std::move(text));
  };
  const auto add_number = [&](const std::string& key, std::string_view pattern) {
    if (const std::string value = value_of(info.params, key); !value.empty()) {
      add(fmt::format(fmt::runtime(pattern), grouped_digits(value)));
    }
  };
  if (value_of(info.params, "ranks") != "1") add_number("ranks", "{} ranks");
  add(shown(info, "model"));
  if (value_of(info.params, "model") == "custom") {  // the name does not give the size
    if (const auto taken = predict::taken_shape(info.provenance)) {
      add(fmt::format("{} layers", taken->num_layers));
      add(fmt::format("hidden size {}", record::format_count(taken->hidden_size)));
    } else if (value_of(info.params, "weights").empty()) {  // config.json is not read here
      add_number("num_layers", "{} layers");
      add_number("hidden_size", "hidden size {}");
    }
  }
  add(shown(info, "precision"));
  add_number("batch", "batch {}");
  add_number("seq", "{} tokens");
  if (info.provenance.contains(std::string(record::kMemoryOf))) add_number("steps", "{} steps");  // a long run
  for (const record::ParamSpec& spec : schema_of(info)) {
    if (!in_provenance_line(spec)) continue;
    const std::string value = value_of(info.params, spec.key);
    add(is_part_of_shape(spec) ? part_of_shape(spec, value) : technique_taken(spec, value));
  }
  if (const std::string unknown = unknown_settings(info); !unknown.empty()) add(unknown + " (not known here)");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string unknown_settings(const record::RunInfo& info) {
  const auto* demo = experiments::find_demo(info.demo);
  if (demo == nullptr) return {};
  return fmt::format("{}", fmt::join(record::Params::unknown_in(demo->schema, info.params), ", "));
}

std::string provenance_line(const record::RunInfo& info) {
  const std::string settings = settings_line(info), gpu = value_of(info.provenance, "gpu");
  const std::string device = info.device == record::DeviceKind::kCpu ? "CPU" : gpu.empty() ? "GPU" : gpu;
  return settings.empty() ? device : settings + ", " + device;
}

std::string device_name(const record::RunInfo& info) {
  const bool on_cpu = info.device == record::DeviceKind::kCpu;
  const std::string name = value_of(info.provenance, on_cpu ? "cpu" : "gpu");
  return !name.empty() ? name : on_cpu ? "CPU" : "GPU";
}

bool same_shape(const record::RunInfo& a, const record::RunInfo& b) {
  const auto same = [&](const std::string& key) {
    const std::string in_a = value_of(a.params, key);
    return !in_a.empty() && in_a == value_of(b.params, key);
  };
  return a.device == b.device && same("model") && same("batch") && same("seq");
}

bool in_provenance_line(const record::ParamSpec& spec) {
  return spec.role != record::ParamRole::kRun && !spec.advanced;
}

std::map<std::string, std::string> full_provenance(const record::Recording& recording, const record::Params& figure) {
  const record::RunInfo& info = recording.info();
  std::map<std::string, std::string> all = info.provenance;
  all.erase(std::string(record::kRunName));  // only tells which files belong together
  const record::Params params = params_of(info);
  for (const auto& [key, value] : info.params) {
    // Skips parameters that another value would bring in, such as the layers of model=custom.
    if (!params.has(key) || params.in_use(key)) all["set." + key] = value;
  }
  all["demo"] = info.demo;
  all["device"] = record::key_of(info.device);
  if (info.cap > 0) all["cap_bytes"] = std::to_string(info.cap);
  if (info.device_memory > 0) all["device_memory_bytes"] = std::to_string(info.device_memory);
  all["dropped_events"] = std::to_string(recording.dropped_events());
  if (recording.truncated()) all["truncated"] = "yes";
  if (recording.outcome()) all["outcome"] = record::key_of(recording.outcome()->kind);
  for (const auto& [key, value] : figure.to_map()) {
    if (figure.in_use(key)) all["figure." + key] = value;
  }
  return all;
}

std::string cut_off_words(const record::Recording& recording) {
  if (!recording.truncated()) return {};
  std::string read;
  record::for_each_row_kind([&](const auto& kind) {
    const std::size_t count = recording.rows<record::RowOf<decltype(kind)>>().size();
    if (count == 0) return;
    std::string name(kind.name);
    std::ranges::replace(name, '_', ' ');
    if (count == 1) name.pop_back();
    read +=
        fmt::format("{}{} {}", read.empty() ? "" : ", ", record::format_count(static_cast<std::int64_t>(count)), name);
  });
  return fmt::format("cut off: {} read, the rest is missing", read.empty() ? "only its settings were" : read + " were");
}

void add_baseline(std::map<std::string, std::string>& provenance, const record::Recording& baseline) {
  for (const auto& [key, value] : full_provenance(baseline, record::Params())) provenance["run_a." + key] = value;
  provenance["run_a.source"] = record::key_of(baseline.info().source);
  provenance["run_a.run"] = provenance_line(baseline.info());
}

std::string conflict_in_words(const record::Params& params, std::string_view first) {
  const experiments::Conflict* conflict = experiments::conflict_in(params);
  if (conflict == nullptr) return {};
  const bool turn = conflict->other == first;
  return fmt::format("{} cannot be combined with {}: {}.", in_words(params, turn ? conflict->other : conflict->key),
                     in_words(params, turn ? conflict->key : conflict->other), conflict->reason);
}

}  // namespace headroom::lessons
