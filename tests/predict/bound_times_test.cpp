// A prediction's phases are as wide as their time bounds.
#include <algorithm>
#include <map>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/time/bound_times.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Phase;

namespace {

predict::StepSettings settings(const std::vector<std::pair<const char*, const char*>>& values) {
  record::Params params(experiments::training_step().schema);
  for (const auto& [key, value] : values) REQUIRE(params.set(key, value));
  return predict::step_settings(params);
}

double of(const std::array<double, record::kNumPhases>& seconds, Phase phase) {
  return seconds[static_cast<std::size_t>(phase)];
}

record::Recording two_steps() {
  record::Recording run(record::RunInfo{.demo = "train_step", .device = record::DeviceKind::kGpu});
  std::vector<record::MemEvent> events;
  std::vector<record::Mark> marks;
  std::uint64_t storage = 0;
  for (int step = 0; step < 2; ++step) {
    for (const auto& [phase, count] : {std::pair(Phase::kForward, 5), std::pair(Phase::kLoss, 2),
                                       std::pair(Phase::kBackward, 3), std::pair(Phase::kOptimizer, 1)}) {
      marks.push_back({.host_time = 7, .event_index = events.size(), .step = step, .phase = phase});
      for (int i = 0; i < count; ++i)
        events.push_back({.time = 7, .storage = ++storage, .requested = 512, .block = 512});
    }
    marks.push_back({.host_time = 7, .event_index = events.size()});
  }
  run.append(events);
  run.append(marks);
  return run;
}

}  // namespace

TEST_CASE("a phase's bound is its GEMMs at the card's peak plus its bytes at the bandwidth") {
  const predict::Card card{.name = "a card", .bandwidth = 1e12, .fp32 = 1e13, .bf16 = 1e14};
  const auto plain = predict::bound_seconds(settings({{"model", "llama-3.2-1b"}, {"precision", "bf16"}}), card);
  REQUIRE(plain);
  CHECK(of(*plain, Phase::kRecompute) == 0);
  CHECK(of(*plain, Phase::kOptimizer) == Approx(14e-12 * 1'235'814'400).epsilon(1e-9));  // 7 numbers of 2 bytes
  CHECK(of(*plain, Phase::kBackward) > 1.8 * of(*plain, Phase::kForward));
  const auto again = predict::bound_seconds(
      settings({{"model", "llama-3.2-1b"}, {"precision", "bf16"}, {"checkpointing", "layer"}, {"accumulate", "2"}}),
      card);
  REQUIRE(again);
  CHECK(of(*again, Phase::kForward) == Approx(2 * of(*plain, Phase::kForward)).epsilon(1e-9));
  CHECK(of(*again, Phase::kOptimizer) == of(*plain, Phase::kOptimizer));
  // Skips the down projection (28 % of a layer's weights) and everything after it.
  CHECK(of(*again, Phase::kRecompute) > 0.6 * of(*again, Phase::kForward));
  CHECK(of(*again, Phase::kRecompute) < 0.75 * of(*again, Phase::kForward));
  const auto together = predict::bound_seconds(settings({{"model", "llama-3.2-1b"},
                                                         {"precision", "bf16"},
                                                         {"checkpointing", "every"},
                                                         {"checkpoint_every", "16"},
                                                         {"accumulate", "2"}}),
                                               card);
  REQUIRE(together);
  CHECK(of(*together, Phase::kRecompute) > 0.9 * of(*again, Phase::kForward));
  CHECK(of(*together, Phase::kForward) == of(*again, Phase::kForward));
  CHECK_FALSE(
      predict::bound_seconds(settings({{"precision", "bf16"}}), {.name = "old", .bandwidth = 1e12, .fp32 = 1e13}));
}

TEST_CASE("events are evenly spaced in a phase as wide as its bound") {
  REQUIRE(predict::bound_card() != nullptr);
  const predict::StepSettings step = settings({{"model", "llama-3.2-1b"}, {"precision", "bf16"}});
  const auto seconds = *predict::bound_seconds(step, *predict::bound_card());
  const record::Recording before = two_steps(),
                          timed = predict::with_bound_times(two_steps(), step, *predict::bound_card());
  CHECK(timed.info().provenance.at("bound_of") == predict::kBoundCard);
  REQUIRE(timed.events().size() == before.events().size());
  REQUIRE(timed.marks().size() == before.marks().size());
  for (std::size_t i = 0; i + 1 < timed.marks().size(); ++i) {
    const record::Mark& mark = timed.marks()[i];
    CHECK(mark.event_index == before.marks()[i].event_index);
    if (mark.step < 0) continue;
    const double length = static_cast<double>(timed.marks()[i + 1].host_time - mark.host_time) * 1e-9;
    CHECK(length == Approx(of(seconds, mark.phase)).margin(2e-9));
  }
  const auto& events = timed.events();
  CHECK(std::ranges::is_sorted(events, {}, &record::MemEvent::time));
  CHECK(events[2].time - events[1].time == Approx(events[1].time - events[0].time).margin(1));
  CHECK(events[6].storage == before.events()[6].storage);
}

TEST_CASE("tf32 and fp8 GEMMs have their own peaks, and the head of an fp8 step has bf16's") {
  predict::Card card{.name = "a card", .bandwidth = 1e12, .fp32 = 1e13, .tf32 = 1e14, .bf16 = 1e14, .fp8 = 2e14};
  const auto fp32 = predict::bound_seconds(settings({{"model", "llama-3.2-1b"}}), card);
  const auto tf32 = predict::bound_seconds(settings({{"model", "llama-3.2-1b"}, {"gemm", "tf32"}}), card);
  REQUIRE((fp32 && tf32));
  CHECK(of(*tf32, Phase::kForward) < 0.2 * of(*fp32, Phase::kForward));
  const auto step = [&](const char* gemm) {
    return predict::bound_seconds(
        settings({{"model", "llama-3.2-1b"}, {"batch", "64"}, {"precision", "bf16"}, {"gemm", gemm}}), card);
  };
  const auto bf16 = step("as_stored"), fp8 = step("fp8");
  REQUIRE((bf16 && fp8));
  CHECK(of(*fp8, Phase::kForward) < 0.75 * of(*bf16, Phase::kForward));
  CHECK(of(*fp8, Phase::kLoss) == of(*bf16, Phase::kLoss));
  card.fp8.reset();
  CHECK_FALSE(step("fp8"));
}
