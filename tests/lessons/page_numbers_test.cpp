// Bytes, losses and shares that the pages' texts take from stored runs: each is the recording's, rounded as it is printed.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/step_bytes.h"
#include "demos/predict/step_moments.h"
#include "demos/record/ledger.h"
#include "lessons/validated.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using record::Recording;
using tests::check_said;
using tests::peak_of;
using tests::stored;

namespace {

std::vector<double> losses_of(const Recording& run) {
  std::vector<double> losses;
  for (const record::MetricSample& sample : run.metrics())
    if (sample.kind == record::MetricKind::kLoss) losses.push_back(sample.value);
  return losses;
}

double last_fifty(const Recording& run) {
  const std::vector<double> losses = losses_of(run);
  return std::accumulate(losses.end() - 50, losses.end(), 0.0) / 50;
}

}  // namespace

TEST_CASE("the second gradient of a tied table is that of the page on sixteen bytes") {
  const auto extra = [](const char* precision) {  // bytes per parameter beside the model state
    record::Params params(experiments::training_step().schema);
    for (const char* each : {"model=llama-3.2-1b", precision}) REQUIRE(params.set_assignment(each).ok());
    const predict::StepSettings step = predict::step_settings(params);
    const std::int64_t parameters = llama::num_parameters(step.model);
    const predict::StaticMemory state = predict::static_memory(parameters, step.precision, predict::KeptState::kAdamW);
    for (const predict::StepMoment& moment : predict::step_moments(step)) {
      if (moment.place != predict::Place::kEmbedding) continue;
      const auto of = [&](record::Category category) { return moment.bytes[static_cast<std::size_t>(category)]; };
      const record::Bytes standing =
          of(record::Category::kWeights) + of(record::Category::kGradients) + of(record::Category::kOptimizerState);
      return static_cast<double>(standing - state.sum()) / static_cast<double>(parameters);
    }
    return 0.0;
  };
  check_said("static_bytes", "have 0.43 bytes per parameter more, 0.85 in fp32",
             {extra("precision=bf16_mixed"), extra("precision=fp32")});
  CHECK(extra("precision=bf16") == extra("precision=bf16_mixed"));
}

TEST_CASE("the gradients in fp16 are those of the page on loss scaling") {
  const auto last_of = [](const char* name) {
    const Recording run = stored(name);
    record::Histogram last;
    for (const record::Histogram& each : run.histograms())
      if (each.name == "gradients") last = each;
    return last;
  };
  // In %: those below 2^exponent, and how many reach it.
  const auto below = [](const record::Histogram& gradients, int exponent) {
    double less = static_cast<double>(gradients.zeros), all = less + static_cast<double>(gradients.not_finite);
    for (std::size_t i = 0; i < gradients.counts.size(); ++i) {
      all += static_cast<double>(gradients.counts[i]);
      if (gradients.low_exponent + static_cast<int>(i) < exponent) less += static_cast<double>(gradients.counts[i]);
    }
    return std::pair{100 * less / all, all - less};
  };
  constexpr int kVanish = -25, kCoarse = -14, kInfinite = 16;  // of fp16
  const record::Histogram large = last_of("technique_fp16_mixed_h200"), tiny = last_of("technique_fp16_mixed_cpu");
  REQUIRE(large.step == 2);
  const auto loses_digits = [&](const record::Histogram& gradients, int scale) {
    return below(gradients, kCoarse - scale).first - below(gradients, kVanish - scale).first;
  };
  check_said("loss_scaling", "0.29 % are below 2⁻²⁵ and become zero. Another 53.8 % are below",
             {below(large, kVanish).first, 2, loses_digits(large, 0)});
  check_said("loss_scaling", "only the 0.15 % below 2⁻²⁶", {below(large, kCoarse - 12).first, 2});
  CHECK(below(large, kCoarse - 10).first < 1);
  CHECK(below(large, kCoarse - 9).first > 1);
  CHECK(below(large, kInfinite - 12).second == 0);
  CHECK(below(large, kInfinite - 20).second > 6600);
  check_said("loss_scaling", "0.29 % vanish and 53.8 % lose digits without a scale",
             {below(large, kVanish).first, loses_digits(large, 0)});
  check_said("loss_scaling", "3.9 % lose digits, at 2¹² 0.15 %", {loses_digits(large, 7), 2, loses_digits(large, 12)});
  check_said("loss_scaling", "In the tiny model 41.9 % do", {loses_digits(tiny, 0)});
}

TEST_CASE("long runs lose what their pages say, and keep the memory of three steps") {
  const Recording nearest = stored("lost_updates_nearest_h200"), stochastic = stored("lost_updates_stochastic_h200"),
                  mixed = stored("lost_updates_mixed_h200");
  for (const Recording* run : {&nearest, &stochastic, &mixed}) {
    REQUIRE(losses_of(*run).size() == 300);
    CHECK(losses_of(*run).front() == losses_of(nearest).front());
    CHECK(record::Ledger(*run).first_mismatch() == record::kNever);
  }
  const auto peak = [](const Recording& run) {
    return static_cast<double>(record::Ledger(run).peak().totals.allocated) / record::kGiB;
  };
  check_said(
      "lost_updates",
      "the last 50 losses are 1.134 on average to nearest, 1.018 with stochastic rounding and 1.005 with masters, "
      "which take 9.21 GiB more",
      {50, last_fifty(nearest), last_fifty(stochastic), last_fifty(mixed), peak(mixed) - peak(stochastic)});
  check_said(
      "lost_updates", "it is 3.97 to nearest, 3.74 with stochastic rounding and 3.74 with masters",
      {losses_of(stored("lost_updates_nearest_cpu")).back(), losses_of(stored("lost_updates_stochastic_cpu")).back(),
       losses_of(stored("lost_updates_mixed_cpu")).back()});
  for (const auto& [name, loss] :
       {std::pair{"losses_full_cpu", 2.2}, {"losses_lora_cpu", 6.4}, {"losses_qlora_cpu", 6.4}})
    CHECK(last_fifty(stored(name)) == Approx(loss).margin(0.05));
  check_said("low_rank", "end near 2.2 with all weights and near 6.4 with LoRA or QLoRA", {2.2, 6.4});
}

TEST_CASE("the compared predictions are those of the page on what fits") {
  const auto runs = lessons::validated_runs();
  double equal = 0, worst = 0;
  for (const lessons::ValidatedRun& run : runs) {
    const auto measured = static_cast<double>(run.measured), off = static_cast<double>(run.predicted) - measured;
    equal += off == 0 ? 1 : 0;
    worst = std::max(worst, 100 * std::abs(off) / measured);
  }
  check_said("will_it_fit", "equal to the byte in 392 of 396 runs, the others within 1.1 %",
             {equal, static_cast<double>(runs.size()), worst});
}

TEST_CASE("the pairs of techniques peak where their pages say") {
  check_said("checkpointing", "$k = 4$ builds four layers at once, and the peak is 10.65 GiB instead of 9.80",
             {4, peak_of("technique_checkpointing_every_h200"), peak_of("technique_checkpointing_layer_h200")});
  check_said("optimizer_states", "the peak of the 1B falls from 9.80 to 8.28 GiB",
             {1, peak_of("technique_checkpointing_layer_h200"), peak_of("technique_optimizer_in_backward_h200")});
  check_said("offload", "instead of 23.58", {peak_of("technique_loss_flce_mixed_h200")});
  CHECK(peak_of("technique_offload_checkpoints_h200") == peak_of("technique_checkpointing_layer_h200"));
  const auto activations = [](const std::string& name) {
    const record::Recording run = stored(name);
    return static_cast<double>(record::Ledger(run)
                                   .peak()
                                   .totals.by_category[static_cast<std::size_t>(record::Category::kActivations)]) /
           record::kMiB;
  };
  check_said("low_rank", "6,857 MiB become 6,343 in the 1B",
             {activations("technique_loss_flce_h200"), activations("technique_lora_h200"), 1});
}
