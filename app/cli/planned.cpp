// Resolves cards and models by name, size or file.
#include "app/cli/planned.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/check_files.h"
#include "app/cli/output.h"
#include "demos/experiments/attention_taken.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/nvml/nvml.h"
#include "demos/predict/fits.h"
#include "demos/record/file/split.h"
#include "demos/record/text.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

record::Result<PlannedCard> this_machine() {
  std::optional<nvml::Driver> driver = nvml::Driver::open();
  const auto memory = driver && driver->select(0u) ? driver->memory() : std::nullopt;
  if (!memory)
    return Error{"This machine has no GPU: name a card, for example --card \"RTX 4090\".", ErrorKind::kRefused};
  std::map<std::string, std::string> facts;
  if (const auto said = driver->compute_capability()) facts["compute_capability"] = *said;
  return planned_card(driver->name(), memory->total, experiments::capability_in(facts));
}

}  // namespace

record::Result<PlannedCard> card_of(const std::string& words) {
  return is_this_machine(words) ? this_machine() : card_from(words);
}

void say_what_is_taken(const Params& params, const CommonOptions& options, bool has_batch, bool has_seq) {
  const auto is_named = [&](std::string_view key) {
    return (key == "batch" && has_batch) || (key == "seq" && has_seq) ||
           std::ranges::any_of(options.set,
                               [&](const std::string& each) { return each.starts_with(std::string(key) + "="); });
  };
  std::string taken;
  for (const char* const key : {"precision", "batch", "seq"})
    if (!is_named(key)) taken += fmt::format(" {}={}", key, params.as_text(key));
  if (!taken.empty()) say(fmt::format("Defaults used:{}.", taken));
}

void say_if_too_old(const PlannedCard& card) {
  constexpr double kLeast = 8.0;
  if (card.compute_capability.value_or(kLeast) < kLeast)
    say(
        fmt::format("{} has compute capability {:.1f}. The plan covers its memory, but running on it needs {:.1f} or "
                    "newer.",
                    card.name, *card.compute_capability, kLeast));
}

std::string closed_form_note(const std::string& why, bool beyond_step) {
  return fmt::format("By the closed form, {}. {}",
                     beyond_step ? "without the allocator's segments, not compared with any run"
                                 : "without the allocator's "
                                   "segments, within about 5 %",
                     why);
}

record::Result<Params> gpu_step(const std::optional<std::string>& model) {
  Params params(experiments::training_step().schema);
  if (auto set = params.set("device", record::setting_of(record::DeviceKind::kGpu)); !set) return set.error();
  if (!model) return params;
  const record::Status named = params.set("model", std::string_view(*model));
  if (named) return params;
  if (std::error_code ignored; !std::filesystem::exists(*model, ignored)) {
    if (model->find('/') == std::string::npos && !model->ends_with(".json")) return named.error();
    return Error{fmt::format(
        "There is no file or folder {}: pass --model a config.json, a checkpoint folder, or a model from `headroom "
        "list`.",
        *model)};
  }
  if (auto set = params.set("model", "custom"); !set) return set.error();
  if (auto set = params.set("weights", std::string_view(*model)); !set) return set.error();
  return params;
}

record::Status check_planned(const Params& params, const EngineChoice& engine) {
  if (engine.elsewhere()) return record::Ok{};
  const auto model = experiments::described_model(predict::step_settings(params));
  if (!model) return model.error();
  Params read = params;
  if (!model.value().beyond_step.empty())
    if (auto set = read.set("weights", ""); !set) return set;
  return check_files(experiments::training_step(), read, engine, /*reads_data=*/false);
}

}  // namespace headroom::app
