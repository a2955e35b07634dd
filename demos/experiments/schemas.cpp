// Builds schemas from the demos' parameters.
#include "demos/experiments/schemas.h"

#include <array>
#include <utility>
#include <vector>

namespace headroom::experiments {

namespace {

using record::ParamRole;
using record::ParamSpec;

record::Schema train_step() { return training_step().schema; }

// Calculators start with the course's model, whatever this machine can run.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFirstChoices{
    {{"model", "llama-3.2-1b"}, {"precision", "bf16_mixed"}}};
constexpr double kFirstSequence = 1024;

std::vector<ParamSpec> shape_specs() {
  std::vector<ParamSpec> specs;
  for (ParamSpec spec : train_step()) {
    if (spec.role == ParamRole::kRun) continue;
    spec.unless_key = {};  // a checkpoint's folder belongs to a run
    for (const auto& [key, value] : kFirstChoices)
      if (spec.key == key) spec.default_text = value;
    if (spec.key == "seq") spec.default_number = kFirstSequence;
    if (spec.group == train_step().front().group) spec.group = "Model and batch";  // "Run" in the demo
    specs.push_back(spec);
  }
  return specs;
}

}  // namespace

const DemoInfo& shape_schema() {
  static const std::vector<ParamSpec> specs = shape_specs();
  static const DemoInfo info{.id = "shape",
                             .title = "A training step's shape",
                             .summary =
                                 "Model, batch and techniques of train_step, for figures that a closed form "
                                 "computes.",
                             .schema = specs};
  return info;
}

std::span<const DemoInfo* const> schemas() {
  static const std::array<const DemoInfo*, 1> all{&shape_schema()};
  return all;
}

const DemoInfo* find_schema(std::string_view id) { return id == shape_schema().id ? &shape_schema() : nullptr; }

record::Params step_params(const record::Params& settings) {
  return record::Params::known_of(train_step(), settings.to_map());
}

}  // namespace headroom::experiments
