// The table of combinations.
#include "demos/experiments/combinations.h"

#include <array>

#include <fmt/format.h>

namespace headroom::experiments {

namespace {

constexpr std::array kConflicts{
    Conflict{"offload.parameters", "on", "checkpointing", "off|selective",
             "without whole layers that are run again, autograd keeps every layer's weights on the device"},
    Conflict{"offload.checkpoints", "on", "checkpointing", "off|selective", "there are no checkpoints to move"},
    Conflict{"optimizer_in_backward", "on", "accumulate", "!1",
             "the weights would change between two batches of one step"},
};

bool matches(std::string_view value, std::string_view pattern) {
  const bool negated = pattern.starts_with('!');
  if (negated) pattern.remove_prefix(1);
  while (true) {
    const std::size_t bar = pattern.find('|');
    if (pattern.substr(0, bar) == value) return !negated;
    if (bar == std::string_view::npos) return negated;
    pattern.remove_prefix(bar + 1);
  }
}

bool set_to(const record::Params& params, std::string_view key, std::string_view pattern) {
  return params.has(key) && params.in_use(key) && matches(params.as_text(key), pattern);
}

}  // namespace

std::span<const Conflict> train_step_conflicts() { return kConflicts; }

const Conflict* conflict_in(const record::Params& params) {
  for (const Conflict& conflict : kConflicts)
    if (set_to(params, conflict.key, conflict.value) && set_to(params, conflict.other, conflict.other_value)) return &conflict;
  return nullptr;
}

std::optional<std::string> refused_combination(const record::Params& params) {
  const Conflict* conflict = conflict_in(params);
  if (conflict == nullptr) return std::nullopt;
  return fmt::format("{}={} does not go with {}={}: {}.", conflict->key, params.as_text(conflict->key), conflict->other,
                     params.as_text(conflict->other), conflict->reason);
}

}  // namespace headroom::experiments
