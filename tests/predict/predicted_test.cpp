// A trace becomes a prediction without a planner's process or a thread.
#include <algorithm>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/predicted.h"
#include "demos/predict/step_settings.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom;
using record::DeviceKind;
using record::Recording;

namespace {

record::Params with(const std::vector<const char*>& assignments) {
  record::Params params(experiments::training_step().schema);
  for (const char* assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  return params;
}

std::vector<record::Bytes> requests_in(const Recording& run) {
  std::vector<record::Bytes> bytes;
  for (const record::MemEvent& event : run.events()) bytes.push_back(event.requested);
  return bytes;
}

}  // namespace

TEST_CASE("a prediction traces as few steps and micro-batches as necessary") {
  const record::Params traced = predict::traced_settings(with({"steps=10", "accumulate=64"}));
  CHECK(traced.integer("steps") == 2);
  CHECK(traced.integer("accumulate") < 64);
  CHECK(predict::traced_settings(traced) == traced);
}

TEST_CASE("a prediction repeats the traced steps up to those of the settings") {
  const Recording two = tests::made_recording({.steps = 2}), three = tests::made_recording({.steps = 3});
  const auto step = predict::predicted(two, with({"steps=2"}), with({"steps=3"}), {});
  REQUIRE(step);
  CHECK(requests_in(*step->requests) == requests_in(three));
  CHECK(step->requests->info().params.at("steps") == "3");
  CHECK(step->recording == step->requests);  // a CPU without a cap
  const Recording one = tests::made_recording({.steps = 1});
  CHECK_FALSE(predict::predicted(one, with({"steps=2"}), with({"steps=3"}), {}));
}

TEST_CASE("a CPU's prediction ends at its cap") {
  Recording trace = tests::made_recording({.steps = 2});
  record::RunInfo info = trace.info();
  info.cap = 3 * record::kMiB;
  trace.set_info(info);
  const auto step = predict::predicted(trace, with({"steps=2"}), with({"steps=2"}), {});
  REQUIRE(step);
  CHECK(requests_in(*step->requests) == requests_in(trace));
  REQUIRE(step->recording->outcome());
  CHECK(step->recording->outcome()->kind == record::OutcomeKind::kOutOfMemory);
}

TEST_CASE("a GPU's prediction is placed in segments, and again from its requests") {
  const Recording trace = tests::made_recording({.device = DeviceKind::kGpu, .steps = 2});
  const auto step = predict::predicted(trace, with({"steps=2"}), with({"steps=2"}), {});
  REQUIRE(step);
  CHECK(step->recording != step->requests);
  CHECK(std::ranges::any_of(step->recording->events(), [](const record::MemEvent& event) {
    return event.kind == record::EventKind::kSegmentAlloc;
  }));
  CHECK(predict::under_cap(step->requests)->events() == step->recording->events());
}
