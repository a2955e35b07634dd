#include "lessons/base_run.h"

#include "demos/experiments/demo.h"
#include "demos/record/schema.h"
#include "lessons/wording.h"

namespace headroom::lessons {

namespace {

std::string switch_of(std::string_view key) {
  if (key == "loss" || key.starts_with("fused.")) return "fused";
  return std::string(key.starts_with("offload.") ? "offload" : key);
}

}  // namespace

std::set<std::string> switches_between(const record::RunInfo& a, const record::RunInfo& b) {
  const experiments::DemoInfo* demo = a.demo == b.demo ? experiments::find_demo(a.demo) : nullptr;
  if (demo == nullptr) return {};
  const auto of_a = record::Params::known_of(demo->schema, a.params),
             of_b = record::Params::known_of(demo->schema, b.params);
  std::set<std::string> differ;
  for (const record::ParamSpec& spec : demo->schema)
    if (spec.role != record::ParamRole::kRun && of_a.in_use(spec.key) && of_b.in_use(spec.key) &&
        of_a.as_text(spec.key) != of_b.as_text(spec.key))
      differ.insert(switch_of(spec.key));
  return differ;
}

std::optional<std::size_t> nearest_base(const record::RunInfo& run, std::span<const record::RunInfo* const> bases) {
  std::optional<std::size_t> nearest;
  std::size_t fewest = 0;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    if (!same_shape(*bases[i], run)) continue;
    const std::size_t other = switches_between(*bases[i], run).size();
    if (nearest && other >= fewest) continue;
    nearest = i;
    fewest = other;
  }
  return nearest;
}

}  // namespace headroom::lessons
