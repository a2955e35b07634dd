// Plans what a configuration of DeepSpeed or Accelerate means: its settings on a training step, and the words about it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/cli/command.h"
#include "demos/configs/config.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct ForeignConfig {
  struct LeftOut {
    configs::Setting setting;
    std::string because;
  };
  configs::Config config;
  std::vector<configs::Setting> used;
  std::vector<LeftOut> left_out;  // settings that this step cannot have
};

inline constexpr const char* kConfigHelp =
    "Configuration of DeepSpeed (JSON) or Accelerate (YAML, JSON); takes the step that it means";

// Keys of assignments such as "batch=4".
std::vector<std::string> keys_of(const std::vector<std::string>& assignments);

// Sets what the file means. Settings out of range are left out.
record::Result<ForeignConfig> apply_config(record::Params& params, const std::string& file);

// Call after the user's own settings, whose keys are `named`: these overrule the file. Leaves out settings of the file
// that our step cannot combine, the one with fewer bytes first.
void settle_config(record::Params& params, ForeignConfig& foreign, const std::vector<std::string>& named);

// Lists the keys that were read, ignored (with the reason), left to another program and not understood, and the command
// that runs the step.
std::string config_text(const ForeignConfig& foreign, const record::Params& params);
// The settings that were left out and the unknown keys, a sentence each.
std::vector<std::string> config_notes(const ForeignConfig& foreign);
nlohmann::json config_json(const ForeignConfig& foreign, const record::Params& params);

}  // namespace headroom::app
