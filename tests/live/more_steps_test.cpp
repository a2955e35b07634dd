// Steps that were not traced are what the planner would have traced.
#include <map>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/predict/more_steps.h"
#include "tests/live/planned.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::MemEvent;

namespace {

// Storages by order of birth, and no times.
std::vector<MemEvent> comparable(const record::Recording& run) {
  std::vector<MemEvent> events = run.events();
  std::map<std::uint64_t, std::uint64_t> births;
  for (MemEvent& event : events) {
    event.storage = births.try_emplace(event.storage, births.size()).first->second;
    event.time = 0;
  }
  return events;
}

std::vector<record::Mark> comparable_marks(const record::Recording& run) {
  std::vector<record::Mark> marks = run.marks();
  for (record::Mark& mark : marks) mark.host_time = mark.device_time = 0;
  return marks;
}

// Of each technique each value, beside what it needs.
std::vector<record::Params> each_technique() {
  std::vector<record::Params> all;
  for (const record::ParamSpec& spec : experiments::training_step().schema) {
    if (spec.role != record::ParamRole::kTechnique) continue;
    for (const record::Choice& choice : record::choices_of(spec)) {
      record::Params params(experiments::training_step().schema);
      const auto set = [&](std::string_view key, std::string_view value) { REQUIRE(params.set(key, value).ok()); };
      set("model", "tiny");
      set("device", "cuda");
      set("batch", "2");
      set("steps", "3");
      if (spec.key.starts_with("offload.")) set("checkpointing", "layer");
      if (spec.key == "offload.parameters") set("offload.optimizer", "host");
      if (!spec.needs_key.empty()) set(spec.needs_key, spec.needs_value.substr(0, spec.needs_value.find('|')));
      set(spec.key, choice.key);
      if (!experiments::refused_combination(params)) all.push_back(params);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("steps that an evaluation follows are traced, every one") {
  predict::StepSettings step{.steps = 3};
  CHECK(predict::traced_steps(step) == 2);
  step.eval_every = 2;
  CHECK(predict::traced_steps(step) == 3);
}

TEST_CASE("the third step of a trace is its second again, whatever the technique") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  int compared = 0;
  std::vector<record::Params> all = each_technique();
  for (const char* more : {"accumulate=2", "histogram=on", "precision=bf16_mixed"}) {
    all.push_back(all.front());
    REQUIRE(all.back().set_assignment(more).ok());
  }
  for (record::Params params : all) {
    CAPTURE(params.to_map());
    const predict::StepSettings step = predict::step_settings(params);
    if (predict::traced_steps(step) == step.steps) continue;
    const auto three = tests::planned(*planner, {.demo = "train_step", .params = params});
    REQUIRE(params.set("steps", "2").ok());
    const auto two = tests::planned(*planner, {.demo = "train_step", .params = params});
    const auto longer = predict::with_more_steps(*two, 3);
    REQUIRE(longer);
    CHECK(comparable(*longer) == comparable(*three));
    CHECK(comparable_marks(*longer) == comparable_marks(*three));
    ++compared;
  }
  CHECK(compared > 40);
}

TEST_CASE("four steps from two free what the third left") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  record::Params params(experiments::training_step().schema);
  for (const char* setting : {"model=tiny", "device=cuda", "steps=2", "loss=hf_2025"})
    REQUIRE(params.set_assignment(setting).ok());
  const auto two = tests::planned(*planner, {.demo = "train_step", .params = params});
  const auto four = predict::with_more_steps(*two, 4);
  REQUIRE(four);
  std::map<std::uint64_t, int> alive;
  for (const MemEvent& event : four->events()) {
    if (event.kind == record::EventKind::kAlloc) CHECK(alive[event.storage]++ == 0);
    if (event.kind == record::EventKind::kFree) CHECK(--alive[event.storage] == 0);
  }
}

TEST_CASE("a trace of one step, or of one that leaves more than it found, is not continued") {
  record::Recording trace(record::RunInfo{});
  const auto add = [&](std::int32_t step, std::uint64_t storage) {
    trace.append(record::Mark{.event_index = trace.events().size(), .step = step});
    trace.append(MemEvent{.storage = storage, .requested = 8});
    trace.append(record::Mark{.event_index = trace.events().size(), .step = -1});
  };
  add(0, 1);
  CHECK_FALSE(predict::with_more_steps(trace, 3));
  add(1, 2);
  CHECK_FALSE(predict::with_more_steps(trace, 3));
}
