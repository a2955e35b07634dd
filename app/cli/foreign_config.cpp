// Applies and describes configurations of other programs.
#include "app/cli/foreign_config.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/tables/text_table.h"
#include "demos/configs/formats.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"

namespace headroom::app {

using configs::Fate;
using configs::Key;
using configs::Setting;
using nlohmann::json;
using record::Params;

namespace {

std::vector<Setting>::iterator find_used(ForeignConfig& foreign, std::string_view key) {
  return std::ranges::find(foreign.used, key, &Setting::key);
}

// Reasons are clauses.
std::string clause(std::string sentence) {
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

void leave_out(Params& params, ForeignConfig& foreign, std::vector<Setting>::iterator setting, std::string because) {
  const Params first(params.schema());
  if (auto reset = params.set(setting->key, std::string_view(first.as_text(setting->key))); !reset)
    throw std::logic_error(reset.error().message);
  foreign.left_out.push_back({std::move(*setting), std::move(because)});
  foreign.used.erase(setting);
}

void leave_out_of_one_rank(Params& params, ForeignConfig& foreign) {
  if (params.integer("ranks") > 1) return;
  for (const char* const key : {"zero", "zero_group", "bucket", "prefetch", "reduce"})
    if (const auto found = find_used(foreign, key); found != foreign.used.end())
      leave_out(params, foreign, found, "one GPU has nothing to share or to sum: use --gpus");
}

// A file holds the state of one rank only.
void put_file_on_host(Params& params, ForeignConfig& foreign) {
  const auto found = find_used(foreign, "offload.optimizer");
  if (found == foreign.used.end() || found->value != "file" || params.text("zero") == "off") return;
  foreign.left_out.push_back({*found, "each rank's slices would need a file of their own; planned as host"});
  found->value = "host";
  (void)params.set("offload.optimizer", "host");
}

std::string bytes_words(const configs::Config& config) {
  const configs::Loading loading{};
  const configs::Places places = configs::places_of(config, loading);
  const predict::StaticMemory each = configs::bytes_per_parameter(config, loading);
  std::string sum = fmt::format("{} + {}", each.weights, each.gradients);
  if (each.master > 0) sum += fmt::format(" + {}", each.master);
  return fmt::format(
      "  formats: loaded {} (assumed), local {}, training {}, optimizer {}: {} + {} = {} B per parameter before "
      "sharding\n",
      label_of(places.loaded), label_of(places.prepared), label_of(places.trained), label_of(places.optimizer), sum,
      each.moments, each.sum());
}

// "zero=3"; the settings of keys that only several together decide may be missing.
std::string setting_of(const configs::Config& config, const Key& key) {
  const Setting* const found = config.find(key.setting);
  return found == nullptr ? std::string() : found->text();
}

// Runs the planned step, with the user's own settings.
std::string command_of(const Params& params) {
  const Params first(params.schema());
  std::string command = "headroom run train_step --set";
  for (const record::ParamSpec& spec : params.schema()) {
    const std::string value = params.as_text(spec.key);
    if (spec.key != "device" && (spec.key == "model" || value != first.as_text(spec.key)))
      command += fmt::format(" {}={}", spec.key, value);
  }
  return command;
}

}  // namespace

std::vector<std::string> keys_of(const std::vector<std::string>& assignments) {
  std::vector<std::string> keys;
  for (const std::string& each : assignments) keys.push_back(each.substr(0, each.find('=')));
  return keys;
}

record::Result<ForeignConfig> apply_config(Params& params, const std::string& file) {
  auto config = configs::read_config(file);
  if (!config) return config.error();
  ForeignConfig foreign{.config = std::move(config).value()};
  for (const Setting& setting : foreign.config.settings) {
    if (auto set = params.set(setting.key, std::string_view(setting.value)); !set)
      foreign.left_out.push_back({setting, clause(set.error().message)});
    else
      foreign.used.push_back(setting);
  }
  return foreign;
}

void settle_config(Params& params, ForeignConfig& foreign, const std::vector<std::string>& named) {
  std::erase_if(foreign.used,
                [&](const Setting& setting) { return std::ranges::find(named, setting.key) != named.end(); });
  leave_out_of_one_rank(params, foreign);
  put_file_on_host(params, foreign);
  while (const experiments::Conflict* const conflict = experiments::conflict_in(params)) {
    // `used` begins with the most bytes.
    const auto last = std::max({conflict->key, conflict->other}, [&](std::string_view a, std::string_view b) {
      const auto place = [&](std::string_view key) {
        const auto found = find_used(foreign, key);
        return found == foreign.used.end() ? -1 : found - foreign.used.begin();
      };
      return place(a) < place(b);
    });
    const auto found = find_used(foreign, last);
    if (found == foreign.used.end()) return;  // both are the user's own
    std::string because = clause(*experiments::refused_combination(params));
    leave_out(params, foreign, found, std::move(because));
  }
}

std::string config_text(const ForeignConfig& foreign, const Params& params) {
  const configs::Config& config = foreign.config;
  std::string text = fmt::format("  {}, for {}\n\n", config.file, label_of(config.framework));
  const auto table = [&](std::string_view head, Fate fate) {
    const auto keys = config.with(fate);
    if (keys.empty()) return;
    std::vector<std::vector<std::string>> rows{{std::string(head), "value", "here", "note"}};
    for (const Key* key : keys) rows.push_back({key->path, key->value, setting_of(config, *key), key->words});
    text += text_table(rows, rows.front().size()) + "\n";
  };
  table("read", Fate::kRead);
  table("decided elsewhere", Fate::kAutomatic);
  table("ignored", Fate::kIgnored);
  table("not understood", Fate::kUnknown);
  for (const Setting& setting : foreign.used)
    if (setting.from.empty()) text += fmt::format("  default of {}: {}\n", label_of(config.framework), setting.text());
  for (const ForeignConfig::LeftOut& each : foreign.left_out)
    text += fmt::format("  left out: {}, because {}\n", each.setting.text(), each.because);
  text += bytes_words(config);
  text += fmt::format("  to run it: {}\n\n", command_of(params));
  return text;
}

std::vector<std::string> config_notes(const ForeignConfig& foreign) {
  std::vector<std::string> notes;
  for (const ForeignConfig::LeftOut& each : foreign.left_out)
    notes.push_back(fmt::format("Left out: {}, because {}.", each.setting.text(), each.because));
  std::string unknown;
  for (const Key* key : foreign.config.with(Fate::kUnknown)) unknown += (unknown.empty() ? "" : ", ") + key->path;
  if (!unknown.empty()) notes.push_back(fmt::format("Headroom does not understand {}.", unknown));
  return notes;
}

json config_json(const ForeignConfig& foreign, const Params& params) {
  constexpr std::array<std::string_view, 4> kFates{"read", "decided_elsewhere", "ignored", "not_understood"};
  json document{{"file", foreign.config.file}, {"framework", label_of(foreign.config.framework)}};
  for (std::size_t i = 0; i < kFates.size(); ++i) {
    json& list = document[kFates[i]] = json::array();
    for (const Key* key : foreign.config.with(static_cast<Fate>(i)))
      list.push_back({{"key", key->path},
                      {"value", key->value},
                      {"setting", setting_of(foreign.config, *key)},
                      {"note", key->words}});
  }
  for (const Setting& setting : foreign.used) document["settings"][setting.key] = setting.value;
  document["left_out"] = json::array();
  for (const ForeignConfig::LeftOut& each : foreign.left_out)
    document["left_out"].push_back({{"setting", each.setting.text()}, {"because", each.because}});
  document["command"] = command_of(params);
  return document;
}

}  // namespace headroom::app
