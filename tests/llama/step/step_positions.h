// Every switch of the training step, set away from its default, from the schema.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demos/experiments/demo.h"
#include "tests/llama/step_fixture.h"

namespace headroom::tests {

struct Position {
  const record::ParamSpec* spec;
  std::string value;

  std::string text() const { return std::string(spec->key) + "=" + value; }
};

// Techniques, and two settings that must work with all of them: counting, which reads every gradient and weight, and
// evaluation.
inline std::vector<Position> positions() {
  // Numbers to test instead of the defaults.
  static const std::map<std::string_view, std::string> kNumbers{
      {"checkpoint_every", "3"}, {"loss_chunk", "16"},       {"accumulate", "2"},
      {"loss_scale", "1024"},    {"loss_scale_window", "1"}, {"galore_rank", "8"},
      {"galore_interval", "1"},  {"galore_scale", "1"},      {"clip", "0.5"},
      {"lora_rank", "4"},        {"lora_alpha", "8"},        {"eval_every", "2"}};
  std::vector<Position> result;
  for (const record::ParamSpec& spec : experiments::training_step().schema) {
    if (spec.group == experiments::kRanksGroup) continue;  // in tests/llama/ranks, because one rank shares nothing
    if (spec.role != record::ParamRole::kTechnique && spec.key != "histogram" && spec.key != "eval_every") continue;
    if (record::choices_of(spec).empty()) {
      CAPTURE(spec.key);
      REQUIRE(kNumbers.contains(spec.key));
      result.push_back({&spec, kNumbers.at(spec.key)});
      continue;
    }
    const std::string standard = record::Params({&spec, 1}).as_text(spec.key);
    for (const record::Choice& choice : record::choices_of(spec))
      if (choice.key != standard) result.push_back({&spec, std::string(choice.key)});
  }
  return result;
}

inline void set(record::Params& params, const std::string& assignment) {
  CAPTURE(assignment);
  REQUIRE(params.set_assignment(assignment).ok());
}

// Sets both positions in order, each with its requirements. Returns false if one has no effect or changes the other.
inline bool set_both(record::Params& params, const Position& one, const Position& other) {
  for (const Position* position : {&one, &other}) {
    const record::ParamSpec& spec = *position->spec;
    if (spec.key == "offload.parameters" || spec.key == "offload.checkpoints") set(params, "checkpointing=layer");
    if (spec.key == "offload.parameters") set(params, "offload.optimizer=host");
    if (position->value == "fp8" || spec.needs_value == "fp8") set(params, "precision=bf16");
    if (spec.needs_key.empty()) continue;
    const std::string_view needed = spec.needs_value.substr(0, spec.needs_value.find('|'));
    set(params, std::string(spec.needs_key) + "=" + std::string(needed));
  }
  set(params, one.text());
  set(params, other.text());
  const auto holds = [&](const Position& p) {
    return params.as_text(p.spec->key) == p.value && params.in_use(p.spec->key);
  };
  return holds(one) && holds(other);
}

inline record::Params micro_step() {
  return params({"model=custom", "hidden_size=16", "num_layers=3", "num_heads=2", "num_kv_heads=1", "head_dim=8",
                 "intermediate_size=24", "vocab_size=256", "batch=2", "seq=8"});
}

}  // namespace headroom::tests
