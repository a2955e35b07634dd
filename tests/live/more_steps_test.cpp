// Compares a full trace with a short one to which steps and micro-batches were added without tracing.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/predict/allocator/more_micro_batches.h"
#include "demos/predict/allocator/more_steps.h"
#include "demos/predict/allocator/placed.h"
#include "demos/record/ledger.h"
#include "tests/live/planned.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::MemEvent;

namespace {

// Events without times, with storages numbered by birth.
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

std::string difference(const record::Recording& a, const record::Recording& b) {
  const auto text = [](const record::Recording& run, const MemEvent& event) {
    return std::to_string(static_cast<int>(event.kind)) + " #" + std::to_string(event.storage) + " " +
           std::to_string(event.requested) + " B " + std::string(record::key_of(event.category)) + " " +
           std::string(record::key_of(event.phase)) + " layer " + std::to_string(event.layer) + " micro-batch " +
           std::to_string(event.micro_batch) + " " + std::string(run.op_name(event.op));
  };
  const std::vector<MemEvent> of_a = comparable(a), of_b = comparable(b);
  for (std::size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i)
    if (of_a[i] != of_b[i]) return std::to_string(i) + ": " + text(a, of_a[i]) + " / " + text(b, of_b[i]);
  return of_a.size() == of_b.size() ? "" : std::to_string(of_a.size()) + " / " + std::to_string(of_b.size());
}

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

std::vector<record::Params> each_accumulating() {
  std::vector<record::Params> all;
  const auto add = [&](record::Params params, const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
    if (!experiments::refused_combination(params)) all.push_back(params);
  };
  const std::vector<record::Params> techniques = each_technique();
  for (const record::Params& params : techniques)
    for (const char* device : {"device=cuda", "device=cpu"}) add(params, {device, "accumulate=5", "steps=2"});
  for (const char* more : {"accumulate=6", "accumulate=7", "accumulate=8", "eval_every=1", "seq=1000", "clip=1"})
    for (const char* loss : {"loss=plain", "loss=hf_2025"})
      add(techniques.front(), {"device=cuda", "accumulate=5", "steps=2", loss, more});
  return all;
}

// Traces as few micro-batches as necessary.
record::Recording few_of(backend::Backend& planner, const record::Params& params) {
  record::Params fewer = params;
  REQUIRE(fewer.set("accumulate", predict::traced_micro_batches(predict::step_settings(params))).ok());
  const auto trace = tests::planned(planner, {.demo = "train_step", .params = fewer});
  record::RunInfo info = trace->info();
  info.params = params.to_map();
  auto few = predict::few_micro_batches(*trace, info);
  REQUIRE(few);
  return *std::move(few);
}

}  // namespace

TEST_CASE("every step is traced if evaluations follow steps") {
  predict::StepSettings step{.steps = 3};
  CHECK(predict::traced_steps(step) == 2);
  step.eval_every = 2;
  CHECK(predict::traced_steps(step) == 3);
}

TEST_CASE("the third traced step equals the repeated second one, whatever the technique") {
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

TEST_CASE("four steps made from two free the third step's storages") {
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

TEST_CASE("a trace of one step, or one that leaves more memory than it found, is not extended") {
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

TEST_CASE("two micro-batches per step are traced, or three if gradients move to the host") {
  predict::StepSettings step{.micro_batches = 64};
  CHECK(predict::traced_micro_batches(step) == 2);
  step.offload.state = predict::StateOffload::kHost;
  CHECK(predict::traced_micro_batches(step) == 3);
  step.micro_batches = 1;
  CHECK(predict::traced_micro_batches(step) == 1);
}

TEST_CASE("further micro-batches equal the repeated second one, whatever the technique") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  int compared = 0;
  for (const record::Params& params : each_accumulating()) {
    CAPTURE(params.to_map());
    const auto all = tests::planned(*planner, {.demo = "train_step", .params = params});
    const record::Recording repeated = predict::with_micro_batches(few_of(*planner, params));
    CHECK(difference(repeated, *all) == "");
    CHECK((comparable_marks(repeated) == comparable_marks(*all)));
    ++compared;
  }
  CHECK(compared > 80);
}

TEST_CASE("few placed micro-batches have the totals of all, under any limit") {
  const auto planner = backend::make_prediction({{HEADROOM_ENGINE_PATH}});
  const auto reserved = [](const record::Recording& run) { return record::Ledger(run).peak_reserved(); };
  int compared = 0, fewer = 0;
  for (const record::Params& params : each_accumulating()) {
    if (params.text("device") != "cuda") continue;
    CAPTURE(params.to_map());
    const record::Recording few = few_of(*planner, params), all = predict::with_micro_batches(few);
    const record::Recording few_placed = predict::placed_until_alike(few), all_placed = predict::placed(all);
    CHECK(reserved(few_placed) == reserved(all_placed));
    const record::Peak peak = record::Ledger(all_placed).peak(), few_peak = record::Ledger(few_placed).peak();
    CHECK(few_peak.totals.allocated == peak.totals.allocated);
    CHECK(few_peak.totals.by_category == peak.totals.by_category);
    if (few_placed.events().size() < all_placed.events().size()) ++fewer;
    for (const record::Bytes limit : {peak.totals.allocated - 1, peak.totals.allocated,
                                      (peak.totals.allocated + reserved(all_placed)) / 2, reserved(all_placed)}) {
      const bool few_runs_out =
          predict::placed_until_alike(few, limit).outcome()->kind != record::OutcomeKind::kCompleted;
      const bool all_runs_out = predict::placed(all, limit).outcome()->kind != record::OutcomeKind::kCompleted;
      CHECK(few_runs_out == all_runs_out);
    }
    ++compared;
  }
  CHECK(compared > 40);
  CHECK(2 * fewer > compared);
}

TEST_CASE("a second micro-batch that leaves more memory than it found is not repeated") {
  record::Recording trace(record::RunInfo{});
  const auto mark = [&](std::int32_t step, std::uint16_t micro_batch) {
    trace.append(record::Mark{.event_index = trace.events().size(), .step = step, .micro_batch = micro_batch});
  };
  for (std::uint16_t m = 0; m < 2; ++m) {
    mark(0, m);
    trace.append(MemEvent{.storage = m + 1u, .requested = 8});
    mark(0, m);
  }
  mark(-1, 0);
  CHECK_FALSE(predict::few_micro_batches(trace, trace.info()));
}
