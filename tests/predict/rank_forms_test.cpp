// A rank's bytes and traffic, against hand-computed and published numbers.
#include <algorithm>

#include "demos/predict/fits.h"
#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/trained_weights.h"
#include "demos/predict/optimizers.h"
#include "demos/predict/parallel.h"
#include "tests/predict/settings.h"

using namespace headroom;
using predict::Zero;
using record::Axis;
using record::CollectiveKind;
using record::Phase;
using tests::with;

TEST_CASE("a share of 7.5 billion parameters is the ZeRO paper's") {
  const predict::StaticMemory whole =
      predict::static_memory(7'500'000'000, predict::Precision::kBf16Mixed, predict::KeptState::kAdamW);
  const double expected[] = {120.0, 31.4, 16.6, 1.9};
  for (const Zero zero : {Zero::kOff, Zero::kOptimizer, Zero::kGradients, Zero::kWeights}) {
    const predict::StaticMemory share = predict::share_of(whole, {.ranks = 64, .zero = zero});
    CHECK(1e-9 * static_cast<double>(share.sum()) == Approx(expected[static_cast<int>(zero)]).margin(0.05));
  }
}

TEST_CASE("a group of ranks shares one copy of the states") {
  const predict::ParallelSettings hybrid{.ranks = 8, .zero = Zero::kWeights, .zero_group = 2};
  CHECK(hybrid.shards() == 2);
  CHECK(hybrid.copies() == 4);
  CHECK(predict::ParallelSettings{.ranks = 8, .zero = Zero::kGradients}.shards() == 8);
  CHECK(predict::ParallelSettings{.ranks = 8, .zero_group = 2}.shards() == 1);
  CHECK_FALSE(predict::ParallelSettings{.ranks = 1, .zero = Zero::kWeights}.shares(Zero::kOptimizer));
}

TEST_CASE("slices are equal whole blocks, and the rest is smaller than a block per shard") {
  CHECK(predict::cut_of(16'777'216, 4).slice == 4'194'304);
  CHECK(predict::cut_of(16'777'216, 4).rest == 0);
  CHECK(predict::cut_of(1'000'000, 3).slice == 333'312);
  CHECK(predict::cut_of(1'000'000, 3).rest == 64);
  CHECK(predict::cut_of(255, 2).slice == 0);
  CHECK(predict::cut_of(255, 1).slice == 255);
  for (std::int64_t elements = 1; elements < 5000; elements += 37) {
    for (const std::int64_t shards : {2, 3, 7, 8}) {
      const predict::Cut cut = predict::cut_of(elements, shards);
      CHECK(shards * cut.slice + cut.rest == elements);
      CHECK(cut.slice % 256 == 0);
      CHECK(cut.rest < shards * 256);
    }
  }
}

TEST_CASE("ranks keep the optimizer state of their slices, and of whole norms") {
  const auto one = with({}), four = with({"ranks=4", "zero=1"}),
             masters = with({"ranks=4", "zero=1", "precision=bf16_mixed"});
  CHECK(predict::updated_parameters(one) == 1'235'814'400);
  // 33 norms of 2,048; every matrix divides by 4 · 256.
  CHECK(predict::updated_parameters(four) == (1'235'814'400 - 33 * 2'048) / 4 + 33 * 2'048);
  CHECK(predict::optimizer_state_bytes(four) == 2 * 4 * predict::updated_parameters(four));
  CHECK(predict::optimizer_state_bytes(masters) == 12 * predict::updated_parameters(masters));
  CHECK(predict::optimizer_state_bytes(with({"ranks=4"})) == predict::optimizer_state_bytes(one));
  // Two 1-byte moments and two 4-byte absmaxes per 256.
  const auto eight = with({"ranks=4", "zero=2", "optimizer=adamw_8bit"});
  CHECK(predict::optimizer_state_bytes(eight) == predict::updated_parameters(eight) / 256 * (2 * 256 + 2 * 4));
}

TEST_CASE("four ranks send the course's 3.707 and 5.561 GB per step") {
  const auto sent = [](std::initializer_list<std::string_view> settings) {
    auto step = with(settings);
    return 1e-9 * static_cast<double>(predict::rank_traffic(step).sum());
  };
  CHECK(sent({"precision=bf16", "ranks=4"}) == Approx(3.707).margin(0.0005));
  CHECK(sent({"precision=bf16", "ranks=4", "zero=1"}) == Approx(3.707).margin(0.0005));
  CHECK(sent({"precision=bf16", "ranks=4", "zero=2"}) == Approx(3.707).margin(0.0005));
  CHECK(sent({"precision=bf16", "ranks=4", "zero=3"}) == Approx(5.561).margin(0.0005));
  CHECK(sent({"precision=bf16"}) == 0);
}

// Sums in units of P · (n − 1) / n bytes per element.
TEST_CASE("phases send the multiples of the weights that the formulas state") {
  const auto share = [](record::Bytes bytes) { return static_cast<double>(bytes) / (1'235'814'400.0 * 3 / 4); };
  const auto traffic = [](std::initializer_list<std::string_view> settings) {
    return predict::rank_traffic(with(settings));
  };
  const auto close = [](double value) { return Approx(value).epsilon(1e-3); };  // norms are summed twice
  const auto plain = traffic({"precision=bf16", "ranks=4", "accumulate=3"});
  CHECK(plain.forward == 0);
  CHECK(share(plain.backward) == close(4));
  CHECK(plain.update == 0);
  const auto two = traffic({"precision=bf16", "ranks=4", "accumulate=3", "zero=2"});
  CHECK(share(two.backward) == close(3 * 2));
  CHECK(share(two.update) == close(2));
  const auto three = traffic({"precision=bf16", "ranks=4", "accumulate=3", "zero=3"});
  CHECK(share(three.forward + three.backward) == close(3 * (2 + 2 + 2)));
  CHECK(three.update == 0);
  const auto adapters = traffic({"precision=bf16", "ranks=4", "zero=3", "adapters=lora"});
  const auto copied_adapters = traffic({"precision=bf16", "ranks=4", "zero=1", "adapters=lora"});
  CHECK(adapters.update > 0);  // adapters are whole on every rank, and frozen weights are not updated
  CHECK(adapters.update == copied_adapters.update);
  const auto wide = traffic({"precision=bf16", "ranks=4", "zero=3", "reduce=fp32"});
  CHECK(share(wide.forward + wide.backward) == close(2 + 2 + 4));
  const auto hybrid = traffic({"precision=bf16", "ranks=4", "zero=3", "zero_group=2"});
  // In pairs, then a half of the gradients between two pairs.
  CHECK(share(hybrid.forward + hybrid.backward) == close((2 + 2 + 2 + 2 * 2 * 0.5) * (1.0 / 2) / (3.0 / 4)));
}

TEST_CASE("a bare number of parameters sends what a model of that size sends") {
  const predict::StaticMemory paper =
      predict::static_memory(7'500'000'000, predict::Precision::kBf16Mixed, predict::KeptState::kAdamW);
  // 2 P, 2 P, 2 P and 3 P of 2 bytes, times 63/64.
  const double gigabytes[] = {29.53, 29.53, 29.53, 44.30};
  for (const Zero zero : {Zero::kOff, Zero::kOptimizer, Zero::kGradients, Zero::kWeights})
    CHECK(1e-9 * static_cast<double>(predict::sent_per_step(paper, {.ranks = 64, .zero = zero}, 1)) ==
          Approx(gigabytes[static_cast<int>(zero)]).margin(0.005));
  CHECK(predict::sent_per_step(paper, {.ranks = 1, .zero = Zero::kWeights}, 4) == 0);

  for (const char* zero : {"zero=off", "zero=1", "zero=2", "zero=3"})
    for (const char* group : {"zero_group=0", "zero_group=2"}) {
      INFO(zero << " " << group);
      const auto step = with({"precision=bf16", "ranks=8", "accumulate=3", zero, group});
      const predict::StaticMemory whole =
          predict::static_memory(1'235'814'400, step.precision, predict::KeptState::kAdamW);
      const auto model = static_cast<double>(predict::rank_traffic(step).sum());
      CHECK(static_cast<double>(predict::sent_per_step(whole, step.parallel, step.micro_batches)) ==
            Approx(model).epsilon(1e-3));
    }
}

TEST_CASE("a step's collectives name axis, phase and layer") {
  const auto all = predict::step_collectives(with({"precision=bf16", "ranks=4", "zero=3", "zero_group=2"}));
  const auto count = [&](CollectiveKind kind, Axis axis, Phase phase) {
    return std::ranges::count_if(all, [&](const record::Collective& each) {
      return each.kind == kind && each.axis == axis && each.phase == phase;
    });
  };
  CHECK(count(CollectiveKind::kAllGather, Axis::kShards, Phase::kForward) == 18);  // layers, and the table twice
  CHECK(count(CollectiveKind::kAllGather, Axis::kShards, Phase::kBackward) == 16);
  CHECK(count(CollectiveKind::kReduceScatter, Axis::kShards, Phase::kBackward) == 17);
  CHECK(count(CollectiveKind::kAllReduce, Axis::kShards, Phase::kBackward) == 17);
  CHECK(count(CollectiveKind::kAllReduce, Axis::kData, Phase::kBackward) == 17);
  CHECK(all.size() == 85);
  for (const record::Collective& each : all) CHECK(each.ranks == 2);
  const auto layer = std::ranges::find(all, std::uint16_t{3}, &record::Collective::layer);
  REQUIRE(layer != all.end());
  CHECK(layer->bytes == 2 * 60'817'408);
}

TEST_CASE("communicators take memory by their axes and blocks") {
  const auto taken = [](std::initializer_list<std::string_view> settings) {
    return predict::with_communicators({}, with(settings).parallel).communicators / record::kMiB;
  };
  CHECK(taken({}) == 0);
  CHECK(taken({"ranks=4"}) == 366 + 480);  // one communicator
  CHECK(taken({"ranks=4", "gather_blocks=16", "sum_blocks=16"}) == 366 + 288);
  CHECK(taken({"ranks=4", "gather_blocks=4", "sum_blocks=16"}) == 366 + 72 + 288);
  CHECK(taken({"ranks=4", "gather_blocks=32", "sum_blocks=32"}) == 366 + 480);  // NCCL uses no more than 24
  CHECK(taken({"ranks=4", "zero=3", "zero_group=2"}) == 366 + 2 * 480);
}
