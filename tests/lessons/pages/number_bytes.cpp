// Bytes, losses and shares that pages print.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "demos/configs/config.h"
#include "demos/configs/formats.h"
#include "demos/experiments/demo.h"
#include "demos/llama/architecture.h"
#include "demos/predict/fits.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/step_moments.h"
#include "demos/predict/step_settings.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/measurements/tables.h"
#include "lessons/theory/number_format.h"
#include "tests/lessons/pages/answer_keys.h"
#include "tests/lessons/pages/number_values.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using record::Category;
using record::Recording;
using tests::kParameters;
using tests::NumberValues;
using tests::peak_of;
using tests::stored;

namespace {

double gib(record::Bytes bytes) { return static_cast<double>(bytes) / record::kGiB; }

predict::StepSettings step_with(std::initializer_list<const char*> settings) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return predict::step_settings(params);
}

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

record::Totals step_peak(const char* name) {
  const Recording run = stored(name);
  const auto step = record::last_whole_step(run);
  REQUIRE(step);
  return record::Ledger(run).peak(step->first, step->last).totals;
}
double bytes_of(const record::Totals& totals, Category kind) {
  return static_cast<double>(totals.by_category[static_cast<std::size_t>(kind)]);
}

// Bytes per parameter beyond the model state, when the tied table has two gradients.
double tied_table_extra(const char* precision) {
  const predict::StepSettings step = step_with({"model=llama-3.2-1b", precision});
  const std::int64_t parameters = llama::num_parameters(step.model);
  const predict::StaticMemory state = predict::static_memory(parameters, step.precision, predict::KeptState::kAdamW);
  for (const predict::StepMoment& moment : predict::step_moments(step)) {
    if (moment.place != predict::Place::kEmbedding) continue;
    record::Bytes standing = 0;
    for (const Category kind : {Category::kWeights, Category::kGradients, Category::kOptimizerState})
      standing += moment.bytes[static_cast<std::size_t>(kind)];
    return static_cast<double>(standing - state.sum()) / static_cast<double>(parameters);
  }
  return 0;
}

NumberValues model_state_numbers() {
  constexpr double kGpt = 1.5, kRoom = 24.0 * record::kGiB / 1e9 - 14 * kGpt;
  return {{"tied_table.bf16.extra", tied_table_extra("precision=bf16_mixed")},
          {"tied_table.bf16.extra", tied_table_extra("precision=bf16")},
          {"tied_table.fp32.extra", tied_table_extra("precision=fp32")},
          {"gpt2.state", 16 * kGpt},
          {"gpt2.state_at_loss", 14 * kGpt},
          {"gpt2.activations", 114.0 * 1'024 * 1'600 * 48 / 1e9},
          {"gpt2.room", kRoom}};
}

// The share of one rank, with mixed precision and AdamW.
predict::StaticMemory rank_share(std::int64_t parameters, std::int64_t ranks, predict::Zero zero) {
  const predict::StaticMemory whole =
      predict::static_memory(parameters, predict::Precision::kBf16Mixed, predict::KeptState::kAdamW);
  return predict::share_of(whole, {.ranks = ranks, .zero = zero});
}

NumberValues zero_numbers() {
  using predict::Zero;
  const auto paper = [](Zero zero) { return static_cast<double>(rank_share(7'500'000'000, 64, zero).sum()) / 1e9; };
  const predict::StaticMemory one = rank_share(1'235'814'400, 4, Zero::kOptimizer),
                              two = rank_share(1'235'814'400, 4, Zero::kGradients);
  return {{"zero_1b.at_loss", static_cast<double>(one.sum() - one.gradients) / 1e9},
          {"zero_1b.at_loss", static_cast<double>(two.sum() - two.gradients) / 1e9},
          {"zero_1b.saved", static_cast<double>(one.sum() - two.sum()) / 1e9},
          {"zero_paper.limit", static_cast<double>(rank_share(7'500'000'000, 1'000'000, Zero::kOptimizer).sum()) / 1e9},
          {"zero_paper.off", paper(Zero::kOff)},
          {"zero_paper.one", paper(Zero::kOptimizer)},
          {"zero_paper.two", paper(Zero::kGradients)},
          {"zero_paper.three", paper(Zero::kWeights)}};
}

NumberValues config_numbers() {
  const auto config = configs::read_config(std::string(HEADROOM_SOURCE_DIR) + "/assets/configs/gpt2_xl_zero3.json");
  REQUIRE(config.ok());
  const auto held = configs::held_by_rank(config.value(), {}, 1'500'000'000, 1);
  REQUIRE(held.ok());
  CHECK(held.value().device.sum() == held.value().device.weights);
  return {{"gpt2_zero3.host", static_cast<double>(held.value().elsewhere.sum()) / 1e9},
          {"gpt2_zero3.weights", static_cast<double>(held.value().device.weights) / 1e9}};
}

// Exponents: fp16's limits, and one above all gradients.
constexpr int kVanish = -25, kCoarse = -14, kInfinite = 16, kAll = 1'100;

record::Histogram last_gradients(const char* run) {
  const Recording recording = stored(run);
  record::Histogram last;
  for (const record::Histogram& each : recording.histograms())
    if (each.name == "gradients") last = each;
  return last;
}
double count_below(const record::Histogram& gradients, int exponent) {
  auto less = static_cast<double>(gradients.zeros);
  for (std::size_t i = 0; i < gradients.counts.size(); ++i)
    if (gradients.low_exponent + static_cast<int>(i) < exponent) less += static_cast<double>(gradients.counts[i]);
  return less;
}
double percent_below(const record::Histogram& gradients, int exponent) {
  return 100 * count_below(gradients, exponent) /
         (count_below(gradients, kAll) + static_cast<double>(gradients.not_finite));
}

NumberValues gradient_numbers() {
  const record::Histogram large = last_gradients("technique_fp16_mixed_h200"),
                          tiny = last_gradients("technique_fp16_mixed_cpu");
  const auto loses_digits = [](const record::Histogram& gradients, int scale) {
    return percent_below(gradients, kCoarse - scale) - percent_below(gradients, kVanish - scale);
  };
  return {{"fp16_gradients.vanish", percent_below(large, kVanish)},
          {"fp16_gradients.lose_digits", loses_digits(large, 0)},
          {"fp16_gradients.scaled_7.lose_digits", loses_digits(large, 7)},
          {"fp16_gradients.scaled_12.lose_digits", loses_digits(large, 12)},
          {"fp16_gradients.scaled_12.lose_digits", percent_below(large, kCoarse - 12)},
          {"fp16_gradients.tiny.lose_digits", loses_digits(tiny, 0)}};
}

NumberValues lost_update_numbers() {
  const auto last = [](const char* run) { return losses_of(stored(run)).back(); };
  return {{"lost_updates.nearest.loss", last_fifty(stored("lost_updates_nearest_h200"))},
          {"lost_updates.stochastic.loss", last_fifty(stored("lost_updates_stochastic_h200"))},
          {"lost_updates.mixed.loss", last_fifty(stored("lost_updates_mixed_h200"))},
          {"lost_updates.mixed.extra", peak_of("lost_updates_mixed_h200") - peak_of("lost_updates_stochastic_h200")},
          {"lost_updates.tiny.nearest.loss", last("lost_updates_nearest_cpu")},
          {"lost_updates.tiny.stochastic.loss", last("lost_updates_stochastic_cpu")},
          {"lost_updates.tiny.mixed.loss", last("lost_updates_mixed_cpu")}};
}

NumberValues adapter_numbers() {
  const auto drop = [](const char* words) { return tests::result_after("low-rank", words); };
  const double all = drop("| 10⁻³ | all weights | 3.580 | 1.575 | 1.335 | 1.130 | 1.029 |"),
               lora = drop("| | LoRA | 3.580 | 2.006 | 1.705 | 1.502 | 1.361 |"),
               qlora = drop("| | QLoRA | 3.577 | 2.007 | 1.707 | 1.507 | 1.362 |");
  const auto activations = [](const char* run) {
    return bytes_of(record::Ledger(stored(run)).peak().totals, Category::kActivations) / record::kMiB;
  };
  return {{"lora.drop", 100 * lora / all},
          {"qlora.drop", 100 * qlora / lora},
          {"flce.activations", activations("technique_loss_flce_h200")},
          {"lora.activations", activations("technique_lora_h200")}};
}

NumberValues validation_numbers() {
  const auto runs = lessons::validated_runs();
  double equal = 0, worst = 0;
  for (const lessons::ValidatedRun& run : runs) {
    const auto measured = static_cast<double>(run.measured), off = static_cast<double>(run.predicted) - measured;
    equal += off == 0 ? 1 : 0;
    worst = std::max(worst, 100 * std::abs(off) / measured);
  }
  return {{"validated.equal", equal}, {"validated.runs", static_cast<double>(runs.size())}, {"validated.worst", worst}};
}

NumberValues technique_peak_numbers() {
  return {{"flce.peak", peak_of("technique_loss_flce_h200")},
          {"flce.mixed.peak", peak_of("technique_loss_flce_mixed_h200")},
          {"checkpointing.every.peak", peak_of("technique_checkpointing_every_h200")},
          {"checkpointing.layer.peak", peak_of("technique_checkpointing_layer_h200")},
          {"checkpointing.selective.peak", peak_of("technique_checkpointing_selective_h200")},
          {"step_in_backward.peak", peak_of("technique_optimizer_in_backward_h200")}};
}

NumberValues process_numbers() {
  const predict::ProcessBytes other = predict::process_bytes("NVIDIA GeForce RTX 4090");
  return {{"process.margin.recorded", gib(predict::process_bytes("NVIDIA H200").margin)},
          {"process.margin.recorded", gib(predict::process_bytes("NVIDIA H100 80GB HBM3").margin)},
          {"process.margin.other", gib(other.margin)},
          {"process.context", gib(other.bytes)},
          {"process.most", gib(other.bytes + other.margin)}};
}

NumberValues kept_numbers() {
  const auto eager = step_with({"model=llama-3.2-1b", "precision=bf16"}),
             fused = step_with({"model=llama-3.2-1b", "precision=bf16", "fused.swiglu=on"});
  const double saved = static_cast<double>(predict::layer_bytes(eager).mlp - predict::layer_bytes(fused).mlp) / 2 /
                       static_cast<double>(eager.tokens());
  const llama::Architecture& model = *llama::find_architecture("llama-3.2-1b");
  const auto block = [&](llama::Block which) {
    return static_cast<double>(llama::numbers_of(model, which, 1024).kept / model.shape.num_layers);
  };
  const auto hidden = static_cast<double>(eager.model.hidden_size);
  return {{"swiglu.width", static_cast<double>(eager.model.intermediate_size)},
          {"swiglu.saved", saved},
          {"dw.tokens", hidden / 2},  // dW has V · H numbers of 2 bytes; a row of logits has V of 4 bytes
          {"mlp.kept", block(llama::Block::kMlp)},
          {"attention.kept", block(llama::Block::kAttention)},
          {"norm.kept", 2 * hidden}};
}

NumberValues timeline_numbers() {
  const record::Totals a = step_peak("report_liger_112_h200"), b = step_peak("report_liger_4_h200"),
                       d = step_peak("report_liger_8_h200");
  // The embedding and the head's gradient have V · H numbers; the other weights are two layers'.
  constexpr double kTableSize = 2.0 * tests::kVocabulary * tests::kHidden / 1e9;
  return {{"timeline_a.activations", bytes_of(a, Category::kActivations) / 1e9},
          {"timeline_a.peak", static_cast<double>(a.allocated) / 1e9},
          {"table.bytes", kTableSize},
          {"two_layers.weights", bytes_of(b, Category::kWeights) / 1e9 - kTableSize},
          {"two_layers.weights", bytes_of(d, Category::kWeights) / 1e9 - kTableSize},
          {"timeline_b.activations", bytes_of(b, Category::kActivations) / 1e9},
          {"timeline_d.activations", bytes_of(d, Category::kActivations) / 1e9}};
}

constexpr std::array kBytes{model_state_numbers, zero_numbers,    config_numbers,     gradient_numbers,
                            lost_update_numbers, adapter_numbers, validation_numbers, technique_peak_numbers,
                            process_numbers,     kept_numbers,    timeline_numbers};

}  // namespace

tests::NumberSources tests::sources_of_bytes() { return kBytes; }

TEST_CASE("a scale of 2 to the 12 keeps the digits of 99 per cent of the gradients, and makes none infinite") {
  const record::Histogram large = last_gradients("technique_fp16_mixed_h200");
  CHECK(tests::right_choice("loss_scaling") == "2¹² = 4,096");
  CHECK(large.step == 2);
  CHECK(percent_below(large, kCoarse - 10) < 1);
  CHECK(percent_below(large, kCoarse - 9) > 1);
  const auto infinite = [&](int scale) { return count_below(large, kAll) - count_below(large, kInfinite - scale); };
  CHECK(infinite(12) == 0);
  CHECK(infinite(20) > 6600);
}

TEST_CASE("long runs begin with the same loss, and their allocations and frees match") {
  for (const char* name : {"lost_updates_nearest_h200", "lost_updates_stochastic_h200", "lost_updates_mixed_h200"}) {
    const Recording run = stored(name);
    REQUIRE(losses_of(run).size() == 300);
    CHECK(losses_of(run).front() == losses_of(stored("lost_updates_nearest_h200")).front());
    CHECK(record::Ledger(run).first_mismatch() == record::kNever);
  }
}

TEST_CASE("random weights leave adapters nothing to adapt") {
  CHECK(last_fifty(stored("losses_lora_cpu")) > last_fifty(stored("losses_full_cpu")) + 4);
}

TEST_CASE("kept inputs on the host do not lower a peak at the end of backward") {
  CHECK(peak_of("technique_offload_checkpoints_h200") == peak_of("technique_checkpointing_layer_h200"));
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
  const record::Params first(experiments::training_step().schema);
  CHECK(1 - first.real("beta1") == Approx(0.1));  // a first moment is a tenth of its gradient
}

TEST_CASE("the stored steps hold at their peaks what the pages say") {
  // All gradients exist and no layer input is left.
  const record::Totals checkpointed = step_peak("technique_checkpointing_layer_h200");
  CHECK(bytes_of(checkpointed, Category::kGradients) >= 2 * kParameters);
  CHECK(bytes_of(checkpointed, Category::kActivations) < 33.0 * record::kMiB);
  // Half of the activations are the kept inputs of 16 layers.
  const double activations = bytes_of(step_peak("report_liger_112_h200"), Category::kActivations);
  CHECK(65'536.0 * 112 * 1'024 / activations == Approx(0.5).margin(0.05));
  for (const char* name : {"report_liger_4_h200", "report_liger_8_h200"})  // the head's gradient exists
    CHECK(bytes_of(step_peak(name), Category::kGradients) > 2.0 * tests::kVocabulary * tests::kHidden);
}
