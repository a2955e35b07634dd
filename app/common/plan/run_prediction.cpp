#include "app/common/plan/run_prediction.h"

#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/plan/predictions.h"
#include "demos/experiments/attention_taken.h"
#include "demos/experiments/demo.h"

namespace headroom::app {

namespace {

constexpr std::chrono::seconds kLongestPrediction{60};

// The run's settings, on the device that it had.
record::Params settings_of(const record::RunInfo& info, const record::Schema& schema) {
  record::Params params = record::Params::known_of(schema, info.params);
  (void)params.set("device", record::setting_of(info.device));
  return experiments::with_attention_taken(std::move(params), info.device, experiments::capability_in(info.provenance));
}

}  // namespace

RunPrediction predict_run(const record::Recording& run, Session& session, bool few_micro_batches,
                          const std::function<bool()>& stop) {
  const record::RunInfo& info = run.info();
  if (!experiments::trains(info.demo) || !run.sweep_points().empty())
    return {nullptr, "Only single runs of train_step can be predicted."};
  const record::Schema& schema = experiments::find_demo(info.demo)->schema;
  if (const auto unknown = record::Params::unknown_in(schema, info.params); !unknown.empty())
    return {nullptr, fmt::format("This version does not know the run's settings {}.", fmt::join(unknown, ", "))};
  if (!session.has_engine()) return {nullptr, session.why_no_engine()};
  const auto until = std::chrono::steady_clock::now() + kLongestPrediction;
  const auto late = [until] { return std::chrono::steady_clock::now() > until; };
  const PlannedRun planned{.demo = info.demo,
                           .params = with_every_kind_of_step(settings_of(info, schema)),
                           .few_micro_batches = few_micro_batches};
  const auto found = session.predictions()->wait(planned, [&] { return stop() || late(); });
  if (found == nullptr && stop()) return {};
  if (found == nullptr)
    return {nullptr, fmt::format("The engine did not predict the run within {} s.", kLongestPrediction.count())};
  return {found->recording, found->refusal};
}

}  // namespace headroom::app
