// Backward and the sums of gradients on a clock.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/time/bound_times.h"
#include "demos/predict/time/overlap.h"
#include "tests/predict/settings.h"

using namespace headroom;
using predict::Overlap;
using tests::with;

namespace {

constexpr predict::BackwardTimes kTimes{.head = 0.002, .layer = 0.001};
constexpr double kAlone = 0.018;  // the head and 16 layers
// A layer of the 1B has 121,643,008 bytes of gradients, of which one of four ranks sends 1.5 times as many.
constexpr double kSentOfLayer = 1.5 * 121'643'008, kSentOfOuter = 1.5 * 2 * 262'670'336;

predict::Link link(double seconds_per_layer) { return {.bandwidth = kSentOfLayer / seconds_per_layer}; }

Overlap overlap(std::initializer_list<std::string_view> settings, double seconds_per_layer) {
  std::vector<std::string_view> all{"precision=bf16", "ranks=4"};
  all.insert(all.end(), settings.begin(), settings.end());
  record::Params params(experiments::training_step().schema);
  for (const char* assignment : {"model=llama-3.2-1b", "batch=4", "seq=1024"})
    REQUIRE(params.set_assignment(assignment).ok());
  for (const std::string_view assignment : all) REQUIRE(params.set_assignment(assignment).ok());
  return predict::overlap(predict::step_settings(params), kTimes, link(seconds_per_layer));
}

}  // namespace

TEST_CASE("sums that are faster than a layer are hidden, except the last two") {
  const Overlap fast = overlap({}, 0.0004);
  CHECK(fast.alone == Approx(kAlone));
  CHECK(fast.sums.size() == 17);
  CHECK(fast.sums.front().begin == Approx(0.003));
  // Layer 0's sum has no backward left either.
  CHECK(fast.sums.back().begin == Approx(kAlone + 0.0004));
  CHECK(fast.waits() == Approx(0.0004 * (1 + kSentOfOuter / kSentOfLayer)));
  CHECK(static_cast<double>(fast.sent) == Approx(16 * kSentOfLayer + kSentOfOuter).epsilon(1e-3));
  CHECK(fast.sent == predict::rank_traffic(with({"precision=bf16", "ranks=4"})).sum());
}

TEST_CASE("backward waits for a link that is slower than a layer") {
  const Overlap slow = overlap({}, 0.003);
  // From the first layer's end on, the link always sums.
  CHECK(slow.end() == Approx(0.003 + slow.summing()));
  CHECK(slow.backward.at(3).begin == Approx(slow.sums.at(0).end));
  CHECK(slow.waits() > 0.03);
}

TEST_CASE("buckets sum several layers together, and the last one the rest") {
  const Overlap buckets = overlap({"bucket=400MiB"}, 0.0004);
  std::vector<std::size_t> layers;
  for (const predict::GradientSum& sum : buckets.sums) layers.push_back(sum.layers.size());
  CHECK(layers == std::vector<std::size_t>{4, 4, 4, 4, 0});
  CHECK(buckets.sums.front().layers == std::vector<std::uint16_t>{15, 14, 13, 12});
  CHECK(buckets.sums.back().outer);
  CHECK(buckets.sums.front().begin == Approx(0.006));
  CHECK(buckets.sent == overlap({}, 0.0004).sent);
  const Overlap whole = overlap({"bucket=64GiB"}, 0.0004);
  REQUIRE(whole.sums.size() == 1);
  CHECK(whole.waits() == Approx(whole.summing()));
}

TEST_CASE("one rank has nothing to sum") {
  const Overlap alone = overlap({"ranks=1"}, 0.0004);
  CHECK(alone.sums.empty());
  CHECK(alone.waits() == 0);
}

TEST_CASE("the least time of backward is the bound's") {
  const predict::Card& card = *predict::bound_card();
  for (const char* setting : {"checkpointing=off", "checkpointing=layer", "loss=flce"}) {
    INFO(setting);
    const predict::StepSettings step = with({"precision=bf16", setting});
    const auto times = predict::backward_times(step, card);
    const auto bound = predict::bound_seconds(step, card);
    REQUIRE(times);
    const double phases = bound->at(static_cast<std::size_t>(record::Phase::kBackward)) +
                          bound->at(static_cast<std::size_t>(record::Phase::kRecompute));
    CHECK(times->sum(step.model.num_layers) == Approx(phases));
  }
}
