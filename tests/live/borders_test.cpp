// Plans the report's step at batches around the largest that fit. The planner must agree with the figure `borders`,
// which is made from recorded requests.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/cards/gpu_extras.h"
#include "demos/record/ledger.h"
#include "lessons/measurements/tables.h"
#include "tests/live/planned.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

record::Params settings_of(const lessons::PredictedStep& step) {
  const auto strategies = experiments::report_strategies();
  const auto plain = std::ranges::find(strategies, "hf", &experiments::ReportStrategy::series);
  record::Params params(experiments::training_step().schema);
  experiments::apply(params, experiments::report_settings(/*quick=*/false));
  experiments::apply(params, plain->settings);
  for (const std::string& setting :
       {std::string("device=cuda"), std::string("seq=1024"), std::string("steps=2"),
        fmt::format("batch={}", step.batch), fmt::format("expandable_segments={}", step.expandable ? "on" : "off")})
    REQUIRE(params.set_assignment(setting).ok());
  return params;
}

}  // namespace

TEST_CASE("the planner's border of the report's batch equals the figure's, to the byte") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  for (const lessons::PredictedStep& step : lessons::predicted_steps()) {
    INFO("batch " << step.batch << ", expandable " << step.expandable);
    const record::Params params = settings_of(step);
    const auto trace = tests::planned(*planner, {.demo = "train_step", .params = params});
    const record::Recording requests = predict::with_gpu_extras(*trace, params.schema());
    const record::Recording free = predict::placed(requests), run = predict::placed(requests, params.integer("cap"));
    CHECK(record::Ledger(free).peak().totals.allocated == step.blocks);
    const auto& failed = run.outcome()->out_of_memory;
    REQUIRE(failed.has_value() == (step.asked > 0));
    if (!failed) continue;
    CHECK(failed->requested == step.asked);
    CHECK(params.integer("cap") - failed->allocated == step.free);
  }
}
