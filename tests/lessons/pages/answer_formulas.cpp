// Pages' answers from closed forms and arithmetic.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "demos/configs/config.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/experiments/switch_search.h"
#include "demos/experiments/technique_table.h"
#include "demos/llama/architecture.h"
#include "demos/predict/forms/attention_work.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/forms/form_recording.h"
#include "demos/predict/forms/kept_tensors.h"
#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/forms/ring.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "demos/predict/techniques.h"
#include "demos/predict/time/chunk_time.h"
#include "demos/record/ledger.h"
#include "lessons/measurements/tables.h"
#include "lessons/steps/run_lines.h"
#include "lessons/theory/derivatives.h"
#include "lessons/theory/number_format.h"
#include "lessons/theory/schedule.h"
#include "tests/lessons/pages/answer_keys.h"

using namespace headroom;
using namespace headroom::lessons;
using record::Bytes;
using record::Category;
using record::Recording;
using tests::AnswerKey;
using tests::check_order;
using tests::kHidden;
using tests::kVocabulary;
using tests::right_choice;

namespace {

record::Params params_of(std::initializer_list<const char*> settings) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}
predict::StepSettings step_of(std::initializer_list<const char*> settings) {
  return predict::step_settings(params_of(settings));
}

void gpt_to_llama(std::string_view page) {
  const llama::Architecture& model = *llama::find_architecture("llama-3.2-1b");
  const auto table = static_cast<double>(llama::numbers_of(model, llama::Block::kEmbedding, 1024).parameters);
  CHECK(100 * table / static_cast<double>(llama::num_parameters(model)) == Approx(21).margin(0.5));
  CHECK(right_choice(page) == "The embedding, which is also the head");
}

void static_bytes(std::string_view page) {
  constexpr std::int64_t kGpt = 1'500'000'000, kActivations = 114LL * 1'024 * 1'600 * 48;
  const auto states = predict::static_memory(kGpt, predict::Precision::kBf16Mixed, predict::KeptState::kAdamW);
  CHECK(states.sum() == 16 * kGpt);
  CHECK(states.sum() < 24 * record::kGiB);
  CHECK(states.sum() - states.gradients + kActivations > 24 * record::kGiB);
  CHECK(right_choice(page) == "No: the activations do not fit.");
}

void zero_stages(std::string_view page) {
  using predict::Zero;
  const predict::StaticMemory whole =
      predict::static_memory(1'235'814'400, predict::Precision::kBf16Mixed, predict::KeptState::kAdamW);
  const auto share = [&](Zero zero) { return predict::share_of(whole, {.ranks = 4, .zero = zero}); };
  const predict::StaticMemory one = share(Zero::kOptimizer), two = share(Zero::kGradients);
  CHECK(one.sum() - one.gradients == two.sum() - two.gradients);  // at the loss
  CHECK(right_choice(page) == "Nothing");
  // The wrong answers: what is saved, kept and whole of the gradients.
  CHECK(1e-9 * static_cast<double>(one.gradients - two.gradients) == Approx(1.9).margin(0.05));
  CHECK(1e-9 * static_cast<double>(two.gradients) == Approx(0.6).margin(0.05));
  CHECK(1e-9 * static_cast<double>(one.gradients) == Approx(2.5).margin(0.05));
}

void read_a_config(std::string_view page) {
  const auto offloads = [](const char* name) {
    const auto config = configs::read_config(std::string(HEADROOM_SOURCE_DIR) + "/assets/configs/" + name);
    REQUIRE(config.ok());
    CHECK(config.value().zero == predict::Zero::kWeights);
    CHECK(config.value().state == predict::StateOffload::kHost);
    return config.value().weights != predict::StateOffload::kOff;
  };
  CHECK_FALSE(offloads("gpt2_xl_zero3.json"));
  CHECK(offloads("gpt2_xl_zero3_param.json"));
  CHECK(right_choice(page) == "No");
  // Run trains with the settings that the printed file means.
  record::Params read(experiments::training_step().schema);
  REQUIRE(read.set("ranks", "2").ok());
  const auto printed = configs::read_config(HEADROOM_SOURCE_DIR "/assets/configs/gpt2_xl_zero3.json");
  for (const configs::Setting& setting : printed.value().settings)
    REQUIRE(read.set(setting.key, std::string_view(setting.value)).ok());
  CHECK(lessons::settings_of(tests::page(page)).to_map() == read.to_map());
}

void ring(std::string_view page) {
  constexpr Bytes kBuffer = 15'000'000'000;
  const auto gigabytes = [](predict::SumWay way, int ranks) {
    return 1e-9 * static_cast<double>(predict::sum_cost(way, kBuffer, ranks, {}).sent);
  };
  CHECK(right_choice(page) == fmt::format("{:.1f}\u00a0GB", gigabytes(predict::SumWay::kRing, 64)));
  // The explanation's numbers, and those of the wrong answers.
  CHECK(gigabytes(predict::SumWay::kRing, 2) == Approx(15));
  CHECK(gigabytes(predict::SumWay::kRing, 4) == Approx(22.5));
  CHECK(gigabytes(predict::SumWay::kRing, 8) == Approx(26.25));
  CHECK(gigabytes(predict::SumWay::kRoot, 64) == Approx(945));
  CHECK(15.0 / 64 == Approx(0.23).margin(0.005));
  CHECK(predict::ring_steps(64) == 126);
  CHECK(126.0 / 64 == Approx(1.97).margin(0.005));
  const auto seconds = [](double bandwidth) {
    return predict::sum_cost(predict::SumWay::kRing, kBuffer, 4, {.bandwidth = bandwidth}).seconds;
  };
  CHECK(seconds(450e9) == Approx(0.05));
  CHECK(seconds(50e9) == Approx(0.45));
}

void data_parallel(std::string_view page) {
  const auto sent = [](const char* zero) {
    return predict::rank_traffic(step_of({"model=llama-3.2-1b", "precision=bf16", "ranks=4", "accumulate=4", zero}));
  };
  // ZeRO's stage 2 sums after each micro-batch: four times the half of an all-reduce.
  CHECK(static_cast<double>(sent("zero=2").backward) / static_cast<double>(sent("zero=1").backward) ==
        Approx(4).epsilon(1e-3));
  CHECK(sent("zero=off").backward == sent("zero=off").sum());
  CHECK(right_choice(page) == "Four times as much");
  // The embedding is larger than a layer, so its sum sticks out.
  const llama::Config& model = *llama::find_config("llama-3.2-1b");
  CHECK(model.vocab_size * model.hidden_size > predict::layer_parameters(model));
}

void activation_terms(std::string_view page) {
  const predict::StepSettings step = step_of({"model=llama-3.2-1b", "precision=bf16", "batch=4", "seq=1024"});
  std::map<predict::KeptPart, double> parts;
  for (const predict::KeptTensor& tensor : predict::kept_tensors(step))
    parts[tensor.part] += static_cast<double>(tensor.bytes * step.model.num_layers);
  check_order(page, {{"The four tensors of all MLPs", parts[predict::KeptPart::kMlp]},
                     {"Norms and residuals", parts[predict::KeptPart::kNorms]},
                     {"Attention, with its result", parts[predict::KeptPart::kAttention]},
                     {"Final norm, and one number per row of each norm",
                      parts[predict::KeptPart::kRows] + static_cast<double>(predict::final_norm_bytes(step))}});
}

void memory_over_batch(std::string_view page) {
  const auto at_batch = [](const char* batch) {
    return predict::closed_form(step_of({"model=llama-3.2-1b", "precision=bf16_mixed", "seq=1024", batch}))
        .peak()
        .bytes;
  };
  const record::ByCategory four = at_batch("batch=4"), eight = at_batch("batch=8");
  for (const Category kind : {Category::kActivations, Category::kLogits})
    CHECK(eight[static_cast<std::size_t>(kind)] == 2 * four[static_cast<std::size_t>(kind)]);
  for (const Category kind : {Category::kWeights, Category::kOptimizerState, Category::kGradients})
    CHECK(eight[static_cast<std::size_t>(kind)] == four[static_cast<std::size_t>(kind)]);
  CHECK(right_choice(page) == "Activations and logits");
}

void schedule(std::string_view page) {
  const auto frames = checkpoint_frames(5, {false, false, true, false, false});
  CHECK(most_alive(frames) == 5);
  CHECK(frames.back().evaluations == 6);
  CHECK(right_choice(page) == "Five alive, six evaluations.");
}

void vocabulary(std::string_view page) {
  std::map<std::string, double> ratios;
  for (const llama::Architecture& each : llama::architectures())
    ratios[std::string(each.name)] = 3.0 * 4 * static_cast<double>(each.shape.vocab_size) /
                                     static_cast<double>(2 * each.shape.hidden_size * each.shape.num_layers);
  check_order(page, ratios);
}

void blocks_and_masks(std::string_view page) {
  constexpr int kNumbers = 1000, kBlock = 512, kBlocks = (kNumbers + kBlock - 1) / kBlock;
  CHECK(right_choice(page) == std::to_string(kBlocks * kBlock - kNumbers));
}

void attention_tiles(std::string_view page) {
  const auto with = [](const char* attention, const char* seq) {
    return step_of({"model=llama-3.2-1b", "precision=fp32", "batch=2", attention, seq});
  };
  const auto eager = with("attention=eager", "seq=512"), longer = with("attention=eager", "seq=2048");
  const auto flash = with("attention=flash", "seq=512"), longer_flash = with("attention=flash", "seq=2048");
  CHECK(
      right_choice(page) ==
      "×" + std::to_string(predict::score_bytes(longer) / predict::score_bytes(eager)) + ", ×" +
          std::to_string(std::lround(predict::eager_attention_flops(longer) / predict::eager_attention_flops(eager))) +
          ", ×" + std::to_string(predict::layer_bytes(longer_flash).attention / predict::layer_bytes(flash).attention));
}

void chunk(std::string_view page) {
  const predict::ChunkedLoss loss{.tokens = 16'384, .vocab = kVocabulary, .hidden = kHidden};
  CHECK(right_choice(page) ==
        std::to_string(loss.chunks(loss.rule())) + " chunks of " + std::to_string(loss.rule()) + " rows.");
}

void derive_and_check(std::string_view page) {
  const DerivativeInput row{.x = {0.5, -1.2, 2.0, 0.1, -0.7, 1.4, -2.0, 0.9},
                            .dy = {1.0, -0.3, 0.8, 0.2, -1.1, 0.6, 0.4, -0.9},
                            .weight = {1, 1.1, 0.9, 1, 1.2, 0.8, 1, 1}};
  CHECK(std::abs(dot(row.x, derivatives().front().formula(row))) < 1e-4);
  CHECK(std::abs(dot(row.x, rms_norm_first_term(row))) > 0.1);
  CHECK(right_choice(page) == "The part of the gradient along x.");
}

void edit_a_kernel(std::string_view page) {
  constexpr double kReadInputs = 2, kWriteSum = 1, kReadSum = 1, kWriteResult = 1;
  const double two = kReadInputs + kWriteSum + kReadSum + kWriteResult, one = two - kReadSum;
  CHECK(std::stod(right_choice(page)) == two / one);
}

void llama_8b(std::string_view page) {
  const llama::Config& model = *llama::find_config("llama-3-8b");
  const auto per_sequence = [&](std::int64_t copies) {
    return static_cast<double>((4 * copies * model.vocab_size + 2 * model.hidden_size * model.num_layers) * 512);
  };
  std::map<std::int64_t, double> bars;
  for (const PublishedTraining& each : published_trainings())
    if (each.implementation == "huggingface") bars[each.batch] = static_cast<double>(each.peak);
  const double published =
      (bars.rbegin()->second - bars.begin()->second) / static_cast<double>(bars.rbegin()->first - bars.begin()->first);
  CHECK(per_sequence(3) == Approx(published).epsilon(0.05));
  CHECK(right_choice(page) == "About 0.9\u00a0GB");
  CHECK(per_sequence(3) / 1e9 == Approx(0.9).margin(0.05));
}

// Predictions have events in order, but no times.
void report_gallery(std::string_view page) {
  const record::Params params = params_of({"model=llama-3.2-1b", "batch=4", "seq=1024"});
  const Recording computed = predict::recording_of(predict::closed_form(predict::step_settings(params)), params);
  CHECK(is_predicted(computed));
  CHECK(record::Ledger(computed).peak().totals.allocated > 0);
  CHECK(computed.metrics().empty());
  CHECK(right_choice(page) == "Tokens per second");
}

void number_formats(std::string_view page) {
  CHECK(right_choice(page) == std::to_string(numbers_between(number_format("bf16"), 1, 2)));
}

void lost_updates(std::string_view page) {
  double weight = 1;
  for (int step = 0; step < 1000; ++step) weight = rounded(number_format("bf16"), weight + 0.001);
  CHECK(right_choice(page) == "At " + number_text(weight) + ".");
}

void recipe(std::string_view page) {
  const record::Params start = experiments::step_params(settings_of(tests::page(page)));
  const auto taken_off = [&](std::string_view id) {
    const auto all = experiments::memory_techniques();
    const auto what = std::ranges::find(all, id, &experiments::Technique::id);
    REQUIRE(what != all.end());
    const auto on = experiments::turned_on(*what, start);
    REQUIRE(on);
    return static_cast<double>(experiments::closed_form_peak(start) - experiments::closed_form_peak(*on));
  };
  check_order(page, {{"The optimizer on the host", taken_off("offload_optimizer")},
                     {"Checkpointing each layer", taken_off("checkpointing")},
                     {"Fused linear cross entropy", taken_off("flce")},
                     {"AdamW with 8-bit moments", taken_off("adamw_8bit")},
                     {"The step in backward", taken_off("optimizer_in_backward")}});
}

constexpr std::array kKeysOfFormulas{
    AnswerKey{"gpt_to_llama", gpt_to_llama},
    AnswerKey{"static_bytes", static_bytes},
    AnswerKey{"zero_stages", zero_stages},
    AnswerKey{"read_a_config", read_a_config},
    AnswerKey{"ring", ring},
    AnswerKey{"data_parallel", data_parallel},
    AnswerKey{"activation_terms", activation_terms},
    AnswerKey{"memory_over_batch", memory_over_batch},
    AnswerKey{"schedule", schedule},
    AnswerKey{"vocabulary", vocabulary},
    AnswerKey{"blocks_and_masks", blocks_and_masks},
    AnswerKey{"attention_tiles", attention_tiles},
    AnswerKey{"chunk", chunk},
    AnswerKey{"derive_and_check", derive_and_check},
    AnswerKey{"edit_a_kernel", edit_a_kernel},
    AnswerKey{"llama_8b", llama_8b},
    AnswerKey{"report_gallery", report_gallery},
    AnswerKey{"number_formats", number_formats},
    AnswerKey{"lost_updates", lost_updates},
    AnswerKey{"recipe", recipe},
};

}  // namespace

std::span<const AnswerKey> tests::keys_of_formulas() { return kKeysOfFormulas; }
