// Bytes, losses and shares in page texts equal those of stored runs, rounded as printed.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/llama/architecture.h"
#include "demos/predict/fits.h"
#include "demos/predict/step_bytes.h"
#include "demos/predict/step_moments.h"
#include "demos/predict/step_settings.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/measurements/tables.h"
#include "lessons/theory/number_format.h"
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
  const auto extra = [](const char* precision) {  // bytes per parameter beyond the model state
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
  check_said("static_bytes", "are 0.43 bytes per parameter higher, 0.85 in fp32",
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
  // The percentage below 2^exponent, and the count of the rest.
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
  check_said("loss_scaling", "In the tiny model 41.9 % lose digits", {loses_digits(tiny, 0)});
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
}

TEST_CASE("adapters learn what the page on them says") {
  const auto drop = [](const char* words) { return tests::result_after("low-rank", words); };
  const double all = drop("| 10⁻³ | all weights | 3.580 | 1.575 | 1.335 | 1.130 | 1.029 |"),
               lora = drop("| | LoRA | 3.580 | 2.006 | 1.705 | 1.502 | 1.361 |"),
               qlora = drop("| | QLoRA | 3.577 | 2.007 | 1.707 | 1.507 | 1.362 |");
  check_said("low_rank", "200 steps on code, gets 87 % of the full drop in loss with LoRA, and QLoRA 99.9 % of LoRA's",
             {200, 100 * lora / all, 100 * qlora / lora});
  // Random weights leave nothing to adapt.
  CHECK(last_fifty(stored("losses_lora_cpu")) > last_fifty(stored("losses_full_cpu")) + 4);
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

TEST_CASE("what cards leave a step is what the pages on it say") {
  const predict::ProcessBytes here = predict::process_bytes("NVIDIA H200"),
                              other = predict::process_bytes("NVIDIA GeForce RTX 4090");
  const auto gib = [](record::Bytes bytes) { return static_cast<double>(bytes) / record::kGiB; };
  CHECK(predict::process_bytes("NVIDIA H100 80GB HBM3").margin == here.margin);
  check_said("will_it_fit", "0.1 GiB on an H200 or H100, where the process was recorded, 0.3 GiB on other cards",
             {gib(here.margin), gib(other.margin)});
  check_said("address_space", "Leave up to 1 GiB free: 0.7 for the CUDA context",
             {gib(other.bytes + other.margin), gib(other.bytes)});
  check_said("address_space", "a margin of 0.1 or 0.3", {gib(here.margin), gib(other.margin)});
}

TEST_CASE("what fused and chunked operations keep is what their pages say") {
  const auto step = [](std::initializer_list<const char*> settings) {
    record::Params params(experiments::training_step().schema);
    for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
    return predict::step_settings(params);
  };
  const auto eager = step({"model=llama-3.2-1b", "precision=bf16"}),
             fused = step({"model=llama-3.2-1b", "precision=bf16", "fused.swiglu=on"});
  const auto width = static_cast<double>(eager.model.intermediate_size);
  const double saved = static_cast<double>(predict::layer_bytes(eager).mlp - predict::layer_bytes(fused).mlp) / 2 /
                       static_cast<double>(eager.tokens());
  check_said("fused_against_unfused", "8,192 elements less per token and layer, and 16,384 less than eager code",
             {width, saved});
  // dW has V · H numbers of two bytes, a row of logits V of four.
  check_said("flce", "At 1,024 tokens dW is as large as one fp32 logits tensor",
             {static_cast<double>(eager.model.hidden_size) / 2});
  const llama::Architecture& model = *llama::find_architecture("llama-3.2-1b");
  const auto kept = [&](llama::Block block) {
    return static_cast<double>(llama::numbers_of(model, block, 1024).kept / model.shape.num_layers);
  };
  check_said("gpt_to_llama", "53,248 bytes per token and layer against attention's 14,464, each with the 4,096",
             {kept(llama::Block::kMlp), kept(llama::Block::kAttention), 2.0 * 2048});
}

TEST_CASE("what 16 bits lose is what the pages on them say") {
  using lessons::number_format;
  using lessons::rounded;
  CHECK(rounded(number_format("bf16"), 1.001) == 1);
  CHECK(rounded(number_format("fp16"), 1.001) > 1);
  CHECK(rounded(number_format("fp16"), 1 + 1.0 / 2100) == 1);
  CHECK(rounded(number_format("fp16"), 5.96e-8) > 0);
  CHECK(rounded(number_format("fp16"), 2.9e-8) == 0);
  CHECK(rounded(number_format("bf16"), 1.003) == 1);
  constexpr double kGpt = 1.5, kActivations = 114.0 * 1'024 * 1'600 * 48 / 1e9, kCard = 24.0 * record::kGiB / 1e9;
  check_said(
      "static_bytes",
      "16 × 1.5·10⁹ = 24.0·10⁹ bytes are static, 21.0·10⁹ of them are in memory at the loss, and 9.0·10⁹ bytes of "
      "activations do not fit into the 4.8·10⁹",
      {16, kGpt, 10, 16 * kGpt, 10, 14 * kGpt, 10, kActivations, 10, kCard - 14 * kGpt, 10});
  const record::Params first(experiments::training_step().schema);
  CHECK(1 - first.real("beta1") == Approx(0.1));
  CHECK(tests::text_of("eight_bits").find("sees only its own gradient, a tenth of it") != std::string::npos);
}

TEST_CASE("the stored steps hold at their peaks what the pages say") {
  const auto kinds = [](const char* name) {
    const Recording run = stored(name);
    const auto step = record::last_whole_step(run);
    REQUIRE(step);
    return record::Ledger(run).peak(step->first, step->last).totals;
  };
  const auto of = [](const record::Totals& totals, record::Category kind) {
    return static_cast<double>(totals.by_category[static_cast<std::size_t>(kind)]);
  };
  constexpr double kParameters = 1'235'814'400;
  // All gradients exist and no layer input is left.
  const record::Totals checkpointed = kinds("technique_checkpointing_layer_h200");
  CHECK(of(checkpointed, record::Category::kGradients) >= 2 * kParameters);
  CHECK(of(checkpointed, record::Category::kActivations) < 33.0 * record::kMiB);
  const record::Totals large = kinds("report_liger_112_h200");
  const double activations = of(large, record::Category::kActivations);
  check_said("four_timelines", "15.3 of A's 16.6 GB", {activations / 1e9, static_cast<double>(large.allocated) / 1e9});
  CHECK(65'536.0 * 112 * 1'024 / activations == Approx(0.5).margin(0.05));
  // The embedding and the head's gradient have V · H numbers; other weights are two layers.
  const record::Totals b = kinds("report_liger_4_h200"), d = kinds("report_liger_8_h200");
  constexpr double kTable = 2.0 * 128'256 * 2'048 / 1e9;
  for (const record::Totals& each : {b, d}) {
    CHECK(of(each, record::Category::kGradients) / 1e9 > kTable);
    check_said("four_timelines", "have 0.5 GB each, two layers' weights 0.2 GB",
               {kTable, of(each, record::Category::kWeights) / 1e9 - kTable});
  }
  check_said("four_timelines", "the layer being recomputed, 0.5 and 1.0 GB",
             {of(b, record::Category::kActivations) / 1e9, of(d, record::Category::kActivations) / 1e9});
}
