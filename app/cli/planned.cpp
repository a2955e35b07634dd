// Cards by words and sizes, and models by names and files.
#include "app/cli/planned.h"

#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/check_files.h"
#include "demos/experiments/attention_taken.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/train_step_model.h"
#include "demos/nvml/nvml.h"
#include "demos/predict/fits.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

PlannedCard planned(std::string name, record::Bytes memory, std::optional<double> capability = {}) {
  const predict::ProcessBytes process = predict::process_bytes(name);
  return {.name = std::move(name), .memory = memory, .process = process, .compute_capability = capability};
}

record::Result<PlannedCard> this_machine() {
  std::optional<nvml::Driver> driver = nvml::Driver::open();
  const auto memory = driver && driver->select(0u) ? driver->memory() : std::nullopt;
  if (!memory) return Error{"No GPU is found here: name a card, such as --card \"RTX 4090\".", ErrorKind::kRefused};
  std::map<std::string, std::string> facts;
  if (const auto said = driver->compute_capability()) facts["compute_capability"] = *said;
  return planned(driver->name(), memory->total, experiments::capability_in(facts));
}

std::string names_of(const std::vector<const predict::Card*>& cards) {
  std::string names;
  for (const predict::Card* card : cards) names += (names.empty() ? "" : ", ") + card->name;
  return names;
}

}  // namespace

record::Result<PlannedCard> card_of(const std::string& words) {
  const std::vector<const predict::Card*> found = predict::find_cards(words);
  if (found.size() == 1)
    return found.front()->memory
               ? planned(found.front()->name, *found.front()->memory, found.front()->compute_capability)
               : this_machine();
  if (found.empty()) {
    if (const auto size = record::parse_bytes(words); size && size.value() > 0)
      return planned(record::format_bytes(size.value()), size.value());
    return Error{fmt::format("There is no card \"{}\" among {}: name one of them, or a size such as 24GiB.", words,
                             names_of(predict::find_cards("")))};
  }
  return Error{fmt::format("\"{}\" is in the names of several cards, {}: name one of them.", words, names_of(found))};
}

record::Status set_model(Params& params, const std::optional<std::string>& model) {
  if (!model) return record::Ok{};
  const std::string_view name = *model;
  const record::Status named = params.set("model", name);
  std::error_code ignored;
  if (named || !std::filesystem::exists(*model, ignored)) return named;
  if (auto set = params.set("model", "custom"); !set) return set;
  return params.set("weights", name);
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
