// The step with each optimizer and precision: its plan, memory and learning.
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/llama/config.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::Category;

std::vector<Allocation> second_step(const Settings& settings, const RunPlace& place) {
  return log_of_step(*make_run(settings, place), place, 1);
}

record::Bytes standing(const std::vector<Allocation>& log, Category category) {
  std::map<std::int64_t, record::Bytes> alive;
  for (const Allocation& a : log) {
    if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
    if (a.kind == Allocation::Kind::kAlloc && a.tag.category == category) alive[a.storage] = a.bytes;
  }
  return std::accumulate(alive.begin(), alive.end(), record::Bytes{0},
                         [](record::Bytes sum, const auto& entry) { return sum + entry.second; });
}

bool bears(const Allocation& a, const char* op) { return record::operator_name(a.tag.op) == op; }

const std::vector<Settings> kOptimizers{
    {"precision=bf16_mixed"},
    {"precision=bf16_mixed", "fused.adamw=off"},
    {"precision=bf16_mixed", "moments=bf16"},
    {"precision=fp16_mixed"},
    {"precision=fp16_mixed", "loss=flce", "loss_chunk=16", "fused.rms_norm=on", "fused.swiglu=on"},
    {"precision=fp16_mixed", "accumulate=2", "batch=1"},
    {"precision=bf16", "rounding=stochastic"},
    {"precision=bf16", "moments=fp32"},
    {"moments=bf16"},
    {"optimizer=adamw_foreach"},
    {"optimizer=adamw_foreach", "precision=bf16", "clip=1"},
    {"optimizer=adamw_foreach", "optimizer_in_backward=on"},
    {"optimizer=paged_adamw_8bit"},
    {"optimizer=adamw_8bit"},
    {"optimizer=adamw_8bit", "precision=bf16"},
    {"optimizer=adamw_8bit", "precision=fp16_mixed"},
    {"optimizer=galore", "galore_interval=2"},
    {"optimizer=galore", "galore_interval=3"},
    {"optimizer=galore", "galore_interval=2", "intermediate_size=1"},  // a Gram matrix of one number
    {"optimizer=galore", "galore_interval=2", "precision=bf16"},
    {"optimizer=galore", "galore_interval=2", "precision=bf16_mixed"},
    {"optimizer_in_backward=on"},
    {"optimizer_in_backward=on", "optimizer=adamw_8bit", "checkpointing=layer"},
    {"optimizer_in_backward=on", "optimizer=galore", "galore_interval=2"},
    {"optimizer_in_backward=on", "precision=fp16_mixed"},
    {"histogram=on"},
    {"histogram=on", "precision=fp16_mixed"},
    {"histogram=on", "precision=bf16", "optimizer_in_backward=on"},
};

}  // namespace

TEST_CASE("every optimizer's allocations are planned in order") {
  install_allocation_log();
  at::set_num_threads(1);
  const Settings settings = joined(kSmallSettings, GENERATE(from_range(kOptimizers)));
  CAPTURE(text_of(settings));
  check_equal(log_of_setup(settings, kCpu), log_of_setup(settings, kPlanForCpu));
  check_equal(third_step(settings, kCpu), third_step(settings, kPlanForCpu));
}

TEST_CASE("each optimizer keeps its bytes per parameter between steps") {
  install_allocation_log();
  const std::int64_t parameters = llama::num_parameters(*llama::find_config("tiny"));
  const auto bytes = [&](const Settings& settings, Category category) {
    return standing(log_of_setup(joined({"seq=32", "batch=1"}, settings), kPlanForCpu), category);
  };
  for (const char* mixed : {"precision=fp16_mixed", "precision=bf16_mixed"}) {
    CHECK(bytes({mixed}, Category::kWeights) == 2 * parameters);
    // Scale, inverse, last value and two counts take 4 bytes each; the numbers of skipped and of all steps 8.
    const record::Bytes scaling = std::string_view(mixed) == "precision=fp16_mixed" ? 5 * 4 + 2 * 8 : 0;
    CHECK(bytes({mixed}, Category::kOptimizerState) == 12 * parameters + scaling);
  }
  CHECK(bytes({"precision=bf16"}, Category::kOptimizerState) == 4 * parameters);
  CHECK(bytes({"precision=bf16", "moments=fp32"}, Category::kOptimizerState) == 8 * parameters);
  CHECK(bytes({"moments=bf16"}, Category::kOptimizerState) == 4 * parameters);

  // 2.031 bytes per parameter: all weights are whole blocks of 256.
  const record::Bytes codes = kernels::adamw_8bit_state_bytes(parameters);
  CHECK(bytes({"optimizer=adamw_8bit"}, Category::kOptimizerState) == codes);
  CHECK(bytes({"optimizer=paged_adamw_8bit"}, Category::kOptimizerState) == 0);  // in managed memory
  CHECK(bytes({"optimizer=adamw_foreach", "precision=bf16"}, Category::kOptimizerState) == 4 * parameters);
  CHECK(bytes({"optimizer=adamw_8bit", "precision=bf16_mixed"}, Category::kOptimizerState) == 4 * parameters + codes);

  // A layer's seven matrices: H = 256, Q = 256, K·D = 128, F = 704; r = H/4 = 64.
  const auto low = [](std::int64_t longer, std::int64_t shorter) { return 64 * (2 * longer + shorter); };
  const std::int64_t layer = 2 * low(256, 256) + 2 * low(256, 128) + 3 * low(704, 256);
  const std::int64_t rest = parameters - 4 * (2 * 256 * 256 + 2 * 256 * 128 + 3 * 704 * 256);
  CHECK(bytes({"optimizer=galore"}, Category::kOptimizerState) == 4 * (4 * layer) + 8 * rest);
}

TEST_CASE("a fused optimizer allocates nothing while it steps") {
  install_allocation_log();
  const Settings settings =
      GENERATE(Settings{"optimizer=adamw_8bit"}, Settings{"optimizer=adamw_8bit", "precision=bf16"},
               Settings{"precision=fp16_mixed"}, Settings{"precision=bf16", "rounding=stochastic"});
  CAPTURE(text_of(settings));
  for (const RunPlace& place : {kCpu, kPlanForCpu}) {
    for (const Allocation& a : second_step(joined(kSmallSettings, settings), place)) {
      if (a.tag.phase == record::Phase::kOptimizer) CHECK(a.kind == Allocation::Kind::kFree);
    }
  }
}

TEST_CASE("the optimizer in backward keeps one layer's gradients and those outside the layers") {
  install_allocation_log();
  const auto most_layers = [](const Settings& settings, const RunPlace& place) {
    std::map<std::int64_t, std::uint16_t> alive;  // layer of each live gradient
    std::size_t most = 0;
    const std::vector<Allocation> log = second_step(joined(kSmallSettings, settings), place);
    std::set<std::int64_t> gradients;
    for (const Allocation& a : log)
      if (a.kind != Allocation::Kind::kFree && a.tag.category == Category::kGradients) gradients.insert(a.storage);
    for (const Allocation& a : log) {
      if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
      if (a.kind == Allocation::Kind::kAlloc && gradients.contains(a.storage)) alive[a.storage] = a.tag.layer;
      std::set<std::uint16_t> layers;
      for (const auto& [storage, layer] : alive)
        if (layer != record::kNoLayer) layers.insert(layer);
      most = std::max(most, layers.size());
    }
    return most;
  };
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  for (const RunPlace& place : {kCpu, kPlanForCpu}) {
    CHECK(most_layers({checkpointing}, place) == 3);
    CHECK(most_layers({checkpointing, "optimizer_in_backward=on"}, place) == 1);
  }
}

TEST_CASE("the optimizer in backward equals the one at the end bit for bit") {
  at::set_num_threads(1);
  const Settings settings =
      GENERATE(Settings{"precision=fp32"}, Settings{"precision=bf16", "rounding=stochastic"},
               Settings{"optimizer=adamw_8bit"}, Settings{"optimizer=galore", "galore_interval=2"},
               Settings{"precision=bf16_mixed", "checkpointing=layer", "fused.rms_norm=on", "loss=flce"},
               Settings{"precision=fp16_mixed", "loss_scale=128"});  // a loss scale at which nothing overflows
  CAPTURE(text_of(settings));
  const Settings base = joined(kSmallSettings, settings);
  CHECK(losses(base, 5) == losses(joined(base, {"optimizer_in_backward=on"}), 5));
}

TEST_CASE("GaLore computes eigenvectors only in the steps that refresh them") {
  install_allocation_log();
  const Settings settings = joined(kSmallSettings, {"optimizer=galore", "galore_interval=2"});
  const auto bytes_in = [&](int step, const RunPlace& place) {
    record::Bytes most = 0;
    for (const Allocation& a : log_of_step(*make_run(settings, place), place, step))
      if (a.kind == Allocation::Kind::kAlloc && bears(a, "galore.projection")) most = std::max(most, a.bytes);
    return most;
  };
  for (const RunPlace& place : {kCpu, kPlanForCpu}) {
    CHECK(bytes_in(1, place) == 0);
    CHECK(bytes_in(2, place) >= 64 * 64 * 4);
  }
}

TEST_CASE("too high a loss scale skips steps until it fits, and is reported") {
  const std::string where = GENERATE("optimizer_in_backward=off", "optimizer_in_backward=on", "offload.optimizer=host");
  CAPTURE(where);
  const auto run = make_run(joined(kSmallSettings, {"precision=fp16_mixed", "loss_scale=16777216", where}), kCpu);
  std::vector<experiments::StepReport> reports;
  for (int i = 0; i < 20; ++i) {
    run->step(i);
    reports.push_back(run->report());
  }
  CHECK(*reports.front().loss_scale == 16777216);
  CHECK(*reports.front().skipped_steps == 1);
  const auto skipped = *reports.back().skipped_steps;
  CHECK(skipped > 1);
  CHECK(skipped < 15);
  CHECK(*reports.back().loss_scale == 16777216 / std::exp2(skipped));
  CHECK(*reports.back().loss < *reports.front().loss - 0.1);
  CHECK(*reports[1].loss == Approx(*reports[0].loss).margin(0.1));  // nothing learned yet
}

TEST_CASE("mixed precision has losses close to fp32's") {
  const Settings settings = GENERATE(
      Settings{"precision=bf16_mixed"}, Settings{"precision=fp16_mixed"}, Settings{"precision=fp16_mixed", "loss=flce"},
      Settings{"precision=fp16_mixed", "fused.cross_entropy=on", "accumulate=2", "batch=1"});
  CAPTURE(text_of(settings));
  const std::vector<double> wide = losses(kSmallSettings, 12), mixed = losses(joined(kSmallSettings, settings), 12);
  // Random numbers depend on the type, so losses agree only like those of two seeds.
  CHECK(mixed.back() == Approx(wide.back()).epsilon(0.05));
}

TEST_CASE("a step with histogram=on counts every gradient by its exponent") {
  const Settings settings = GENERATE(Settings{}, Settings{"precision=fp16_mixed"}, Settings{"optimizer_in_backward=on"},
                                     Settings{"optimizer=adamw_8bit"});
  CAPTURE(text_of(settings));
  const auto run = make_run(joined(kSmallSettings, joined({"histogram=on"}, settings)), kCpu);
  for (int i = 0; i < 2; ++i) run->step(i);
  const experiments::StepReport report = run->report();
  const bool sees_updates = settings != Settings{"optimizer=adamw_8bit"};
  REQUIRE(report.histograms.size() == (sees_updates ? 3 : 1));
  const record::Histogram& gradients = report.histograms.front();
  CHECK(gradients.name == "gradients");
  CHECK(gradients.step == 1);
  const std::int64_t counted = std::accumulate(gradients.counts.begin(), gradients.counts.end(), std::int64_t{0});
  CHECK(counted + gradients.zeros + gradients.not_finite == run->num_parameters());
  // Gradients are counted unscaled: a mean loss of 5.7 nats gives none above 1, but times 65,536 it would.
  CHECK(gradients.low_exponent + static_cast<int>(gradients.counts.size()) <= 1);
  CHECK(counted > run->num_parameters() / 2);
  CHECK(make_run(kSmallSettings, kCpu)->step(0) == experiments::StepResult::kDone);
}

TEST_CASE("a skipped step counts no updates, and the next one counts those of a first step") {
  const auto run =
      make_run(joined(kSmallSettings, {"histogram=on", "precision=fp16_mixed", "loss_scale=16777216"}), kCpu);
  const auto numbers = [](const record::Histogram& h) {
    return std::accumulate(h.counts.begin(), h.counts.end(), h.zeros + h.not_finite);
  };
  std::int64_t skipped = 0;
  for (int i = 0; i < 20; ++i) {
    run->step(i);
    const experiments::StepReport report = run->report();
    REQUIRE(report.histograms.size() == 3);
    const record::Histogram &updates = report.histograms[1], &lost = report.histograms[2];
    CAPTURE(i);
    if (std::exchange(skipped, *report.skipped_steps) < *report.skipped_steps) {
      CHECK(numbers(updates) == 0);
      CHECK(numbers(lost) == 0);
      continue;
    }
    REQUIRE(skipped > 3);
    CHECK(numbers(updates) == run->num_parameters());
    // Adam's first update is the learning rate for every gradient but 0: 1e-3 = 1.02 · 2^−10.
    CHECK(updates.counts.at(static_cast<std::size_t>(-10 - updates.low_exponent)) > run->num_parameters() / 2);
    return;
  }
  FAIL("every step was skipped");
}

TEST_CASE("8-bit moments and GaLore reach most of AdamW's drop in loss") {
  const Settings base{"model=custom",   "hidden_size=128", "num_layers=2",          "num_heads=4",
                      "num_kv_heads=2", "head_dim=32",     "intermediate_size=256", "vocab_size=256",
                      "batch=4",        "seq=64",          "learning_rate=0.001"};
  constexpr int kSteps = 200;
  const auto last = [](const std::vector<double>& curve) {
    return std::accumulate(curve.end() - 20, curve.end(), 0.0) / 20;  // single batches differ
  };
  const std::vector<double> adamw = losses(base, kSteps);
  const std::vector<double> narrow = losses(joined(base, {"optimizer=adamw_8bit"}), kSteps);
  CAPTURE(adamw.front(), last(adamw), last(narrow));
  CHECK(last(narrow) == Approx(last(adamw)).epsilon(0.02));
  CHECK(last(adamw) < 0.6 * adamw.front());

  // r = H/4, with the paper's higher learning rate, because α = 1/4 multiplies it.
  const std::vector<double> galore =
      losses(joined(base, {"optimizer=galore", "galore_rank=32", "galore_interval=20", "galore_scale=1"}), kSteps);
  const double share = (galore.front() - last(galore)) / (adamw.front() - last(adamw));
  CAPTURE(last(galore), share);
  CHECK(share >= 0.8);
}
