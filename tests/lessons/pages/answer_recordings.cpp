// Pages' answers from recordings, ours or published.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/cards/cards.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/step_settings.h"
#include "demos/predict/time/step_flops.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/measurements/tables.h"
#include "lessons/steps/address_space.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_work.h"
#include "tests/lessons/pages/answer_keys.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using namespace headroom::lessons;
using record::Bytes;
using record::Category;
using record::Ledger;
using record::Recording;
using tests::AnswerKey;
using tests::check_order;
using tests::kHidden;
using tests::kParameters;
using tests::kVocabulary;
using tests::right_choice;
using tests::stored;
using tests::stored_ranks;

namespace {

record::ByCategory kinds_at_peak(const char* name) {
  const Recording run = stored(name);
  const auto step = record::last_whole_step(run);
  REQUIRE(step);
  return Ledger(run).peak(step->first, step->last).totals.by_category;
}
Bytes kind_at_peak(const char* name, Category kind) { return kinds_at_peak(name)[static_cast<std::size_t>(kind)]; }

// Totals when the last whole step enters `phase`.
record::Totals entering(const Recording& run, record::Phase phase) {
  const auto step = record::last_whole_step(run);
  REQUIRE(step);
  for (std::size_t i = step->first_mark; i < step->last_mark; ++i)
    if (run.marks()[i].phase == phase) return Ledger(run).at(run.marks()[i].event_index - 1);
  FAIL("the step has no such phase");
  return {};
}
Bytes of(const record::Totals& totals, Category kind) { return totals.by_category[static_cast<std::size_t>(kind)]; }

void is_measured(std::string_view id) {
  const Page& page = tests::page(id);
  const NumberQuestion* const question = number_of(tests::question_of(page));
  REQUIRE(question != nullptr);
  const Recording run = stored(page.shows);
  const double answer = question->answer->of(Ledger(run));
  CHECK(answer > question->low);
  CHECK(answer < question->high);
  if (question->answer->name != "peak_of_step") return;
  const auto made = record::Params::known_of(experiments::training_step().schema, run.info().params);
  const predict::ClosedForm form = predict::closed_form(predict::step_settings(made));
  CHECK(answer == Approx(static_cast<double>(record::total(form.peak().bytes))).epsilon(0.05));
}

void address_space(std::string_view page) {
  const Recording run = stored("llama-3.2-1b_h200_b8_24gib_oom");
  const Ledger ledger(run);
  const AddressSpace space = address_space_at(ledger, ledger.size() - 1);
  const double asked = 1.6 * record::kGiB;
  CHECK(static_cast<double>(run.info().cap - space.blocks) > asked);
  CHECK(static_cast<double>(std::max(space.largest_free, run.info().cap - space.reserved)) < asked);
  CHECK(right_choice(page) == "No: no free place is that large.");
}

void mfu(std::string_view page) {
  const auto run = std::ranges::find_if(published_runs(), [](const PublishedRun& each) {
    return each.experiment == "batch" && each.strategy == "hf" && each.batch == 1;
  });
  REQUIRE(run != published_runs().end());
  const double peak = *predict::card_of_gpu("NVIDIA GeForce RTX 4090")->bf16;
  CHECK(100 * run->tokens_per_second * 6 * kParameters / peak == Approx(std::stod(right_choice(page))).margin(0.05));
}

void when_sixteen(std::string_view page) {
  const char* const name = "technique_bf16_mixed_h200";
  const auto per_parameter = [](Bytes weights, Bytes states, Bytes gradients) {
    return static_cast<double>(weights + states + gradients) / kParameters;
  };
  const record::Totals end = entering(stored(name), record::Phase::kOptimizer);
  CHECK(per_parameter(of(end, Category::kWeights), of(end, Category::kOptimizerState), of(end, Category::kGradients)) ==
        Approx(16).margin(0.05));
  CHECK(per_parameter(kind_at_peak(name, Category::kWeights), kind_at_peak(name, Category::kOptimizerState),
                      kind_at_peak(name, Category::kGradients)) == Approx(14).margin(0.05));
  CHECK(right_choice(page) == "At the end of backward");
}

void many_launches(std::string_view page) {
  const Recording run = stored("rms_norm_h200_launches");
  CHECK(right_choice(page) ==
        "About " + std::to_string(std::lround(length_of(kernels_of(run, "graph")) / 1e3)) + "\u00a0µs");
}

void kernels_of_a_step(std::string_view page) {
  const Recording run = stored("llama-3.2-1b_h200_fused_kernels");
  const StepWork work = work_of(spans_of(run, {.step = last_traced_step(run)}));
  CHECK(right_choice(page) == "About " + std::to_string(work.launches));
}

// Only with chunks does the head's gradient exist before backward.
void flce(std::string_view page) {
  constexpr Bytes kHead = 2 * kVocabulary * kHidden;
  const auto gradients = [](const char* name) {
    return of(entering(stored(name), record::Phase::kBackward), Category::kGradients);
  };
  CHECK(gradients("technique_loss_flce_h200") >= kHead);
  CHECK(gradients("technique_plain_h200") < kHead);
  CHECK(right_choice(page) == "dX and dW are ready before backward.");
}

void liger_panels(std::string_view page) {
  const auto speed_up = [](std::string_view panel) {
    std::map<std::string_view, const PublishedKernel*> widest;
    for (const PublishedKernel& point : published_kernels())
      if (point.panel == panel) {
        const PublishedKernel*& best = widest[point.implementation];
        if (best == nullptr || point.x > best->x) best = &point;
      }
    return widest.at("huggingface")->milliseconds / widest.at("liger")->milliseconds;
  };
  check_order(page, {{"RoPE", speed_up("rope")},
                     {"RMSNorm", speed_up("rms_norm")},
                     {"Cross entropy", speed_up("cross_entropy")},
                     {"LayerNorm", speed_up("layer_norm")},
                     {"SwiGLU and GeGLU, whole MLPs", std::max(speed_up("swiglu"), speed_up("geglu"))}});
}

void four_timelines(std::string_view page) {
  const std::vector<std::string>& runs = tests::page(page).beside;
  char right = '?';
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (stored(runs[i]).info().params.at("batch") == "112") right = static_cast<char>('A' + i);
  CHECK(right_choice(page) == std::string(1, right));
}

void fixed_cost(std::string_view page) {
  const auto seconds = [](std::string_view strategy, std::int64_t batch) {
    for (const PublishedRun& run : published_runs())
      if (run.experiment == "batch" && run.strategy == strategy && run.batch == batch)
        return static_cast<double>(run.batch * run.seq) / run.tokens_per_second;
    return 0.0;
  };
  for (const std::int64_t batch : {1, 4, 8})
    CHECK(seconds("liger_all", batch) / seconds("hf", batch) == Approx(1).margin(0.04));
  CHECK(right_choice(page) == "As long, within a few per cent");
}

void optimizer_states(std::string_view page) {
  const record::ByCategory a = kinds_at_peak("technique_loss_flce_h200"),
                           b = kinds_at_peak("technique_adamw_8bit_h200");
  for (const Category kind : {Category::kWeights, Category::kGradients, Category::kActivations, Category::kLogits})
    CHECK(a[static_cast<std::size_t>(kind)] == b[static_cast<std::size_t>(kind)]);
  constexpr auto kState = static_cast<std::size_t>(Category::kOptimizerState);
  CHECK(static_cast<double>(b[kState]) < 0.6 * static_cast<double>(a[kState]));
  CHECK(right_choice(page) == "The optimizer state alone.");
}

void low_rank(std::string_view page) {
  const auto share = [](const char* name, Category kind) {
    return static_cast<double>(kind_at_peak(name, kind)) /
           static_cast<double>(kind_at_peak("technique_loss_flce_h200", kind));
  };
  const char *const lora = "technique_lora_h200", *const qlora = "technique_qlora_h200";
  for (const char* const name : {lora, qlora}) {
    CHECK(share(name, Category::kGradients) < 0.1);
    CHECK(share(name, Category::kOptimizerState) < 0.1);
    CHECK(share(name, Category::kActivations) > 0.9);
  }
  CHECK(share(lora, Category::kWeights) >= 1);
  CHECK(share(qlora, Category::kWeights) < 0.5);
  CHECK(right_choice(page) == "Gradients and optimizer state; QLoRA the weights, too.");
}

// On rank 2, phases in which layer 1's gathered weights are allocated and freed in the last whole step, in order.
void zero_step(std::string_view page) {
  const Recording run = stored_ranks("ranks_4_zero3_h200");
  const Ledger ledger(*run.other_ranks().at(1));
  const Recording& rank = ledger.recording();
  REQUIRE(rank.info().rank == 2);
  const auto step = record::last_whole_step(rank);
  REQUIRE(step);
  std::vector<record::Phase> phases;
  for (const record::Storage& each : ledger.storages()) {
    if (each.layer != 1 || rank.op_name(each.op) != "gathered.weights" || each.died <= step->first) continue;
    if (each.born >= step->last) continue;
    REQUIRE(each.born >= step->first);
    REQUIRE(each.died < step->last);
    phases.insert(phases.end(), {each.phase, rank.events()[each.died].phase});
  }
  using record::Phase;
  CHECK(phases == std::vector{Phase::kForward, Phase::kForward, Phase::kBackward, Phase::kBackward});
  CHECK(right_choice(page) == "In its forward and again in its backward");
}

constexpr std::array kKeysOfRecordings{
    AnswerKey{"where_memory_goes", is_measured},
    AnswerKey{"address_space", address_space},
    AnswerKey{"mfu", mfu},
    AnswerKey{"when_sixteen", when_sixteen},
    AnswerKey{"checkpointing", is_measured},
    AnswerKey{"loss_paths", is_measured},
    AnswerKey{"many_launches", many_launches},
    AnswerKey{"kernels_of_a_step", kernels_of_a_step},
    AnswerKey{"flce", flce},
    AnswerKey{"fused_against_unfused", is_measured},
    AnswerKey{"liger_panels", liger_panels},
    AnswerKey{"four_timelines", four_timelines},
    AnswerKey{"fixed_cost", fixed_cost},
    AnswerKey{"mixed_precision", is_measured},
    AnswerKey{"loss_scaling", nullptr, "tests/lessons/pages/number_bytes.cpp"},
    AnswerKey{"optimizer_states", optimizer_states},
    AnswerKey{"eight_bits", is_measured},
    AnswerKey{"low_rank", low_rank},
    AnswerKey{"offload", is_measured},
    AnswerKey{"bandwidth_of_this_machine", is_measured},
    AnswerKey{"zero_step", zero_step},
    AnswerKey{"ladder", is_measured},
};

}  // namespace

std::span<const AnswerKey> tests::keys_of_recordings() { return kKeysOfRecordings; }
