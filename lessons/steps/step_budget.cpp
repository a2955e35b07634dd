// Turns speeds and traces into shares of a step.
#include "lessons/steps/step_budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "demos/experiments/technique_table.h"
#include "demos/predict/time/bound_times.h"
#include "demos/predict/time/step_bound.h"
#include "demos/record/quantile.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/steps/step_work.h"
#include "lessons/wording.h"

namespace headroom::lessons {

namespace {

using predict::AttentionFlops;
using predict::StepSettings;
using record::Recording;
using record::RunInfo;

constexpr std::string_view kReportCard = "NVIDIA GeForce RTX 4090";
constexpr double kNanosecondsPerSecond = 1e9;

// Median speed without the warm-up step; 0: not measured.
double speed_of(const Recording& run) {
  std::vector<double> speeds;
  std::int32_t first = -1;
  for (const record::MetricSample& sample : run.metrics()) {
    if (sample.kind != record::MetricKind::kTokensPerSecond || !std::isfinite(sample.value)) continue;
    if (first < 0) first = sample.step;
    if (sample.step != first) speeds.push_back(sample.value);
  }
  return speeds.empty() ? 0 : record::quantiles_of(std::move(speeds)).median;
}

// Operations per token.
struct TokenFlops {
  double model = 0, again = 0;
};
TokenFlops token_flops(const StepSettings& step, AttentionFlops attention) {
  return {.model = predict::model_flops_per_token(step, attention),
          .again = predict::repeated_flops_per_token(step, attention)};
}

// Shares from the speed alone.
StepBudget budget_of(const TokenFlops& flops, double tokens_per_second, double peak) {
  StepBudget budget{.tokens_per_second = tokens_per_second, .flops_per_token = flops.model, .peak = peak};
  budget.model = tokens_per_second * flops.model / peak;
  budget.again = tokens_per_second * flops.again / peak;
  budget.rest = std::max(0.0, 1 - budget.hfu());
  return budget;
}

// Divides the rest among a traced step's kernels and gaps.
void divide(StepBudget& budget, const Recording& run, const std::vector<record::KernelSpan>& spans,
            const StepWork& work) {
  const auto length = static_cast<double>(work.length);
  double products = 0;
  for (const record::KernelSpan& span : spans)
    if (work_kind(run, span) == Work::kProduct) products += static_cast<double>(span.duration);
  budget.idle = static_cast<double>(work.idle) / length;
  budget.products = std::clamp(products / length - budget.hfu(), 0.0, std::max(0.0, 1 - budget.hfu() - budget.idle));
  budget.memory = std::max(0.0, 1 - budget.hfu() - budget.products - budget.idle);
  budget.rest = 0;
}

// The peak; 0 if neither the reader nor a card gives it.
double peak_of(const RunInfo& info, const StepSettings& step, const Peaks& peaks) {
  if (peaks.given > 0) return peaks.given;
  const predict::Card* const card = peaks.card_of_gpu(value_of(info.provenance, "gpu"));
  return card == nullptr ? 0 : predict::products_peak(step, *card).value_or(0);
}

std::string_view group_of(const StepSettings& step) {
  if (step.offload.state != predict::StateOffload::kOff) return "optimizer on host";
  if (step.keeps_layer_inputs()) return "checkpoints";
  return step.element_bytes() == 4 ? "fp32" : "16 bits";
}

StepSettings settings_of(const PublishedRun& run) {
  record::Params params(experiments::training_step().schema);
  experiments::apply(params, experiments::report_settings(false));
  for (const experiments::ReportStrategy& each : experiments::report_strategies())
    if (each.series == run.strategy) experiments::apply(params, each.settings);
  StepSettings step = predict::step_settings(params);
  step.batch = run.batch;
  step.sequence = run.seq;
  return step;
}

bool is_shown(const PublishedRun& run) {
  if (run.experiment != "batch" || run.tokens_per_second <= 0) return false;
  if (run.strategy == "hf") return run.batch == 1 || run.batch == 8;
  return run.strategy == "liger_all" && (run.batch == 8 || run.batch == 32 || run.batch == 96);
}

}  // namespace

const predict::Card* Peaks::card_of_gpu(std::string_view gpu) const {
  const auto found = std::ranges::find(measured, gpu, &predict::Card::driver_name);
  return found == measured.end() ? predict::card_of_gpu(gpu) : &*found;
}

std::optional<StepBudget> budget_of(const Recording& run, AttentionFlops attention, const Peaks& peaks,
                                    std::string& why) {
  const RunInfo& info = run.info();
  if (!is_one_step(run)) {
    why = "The shown run is not a run of one training step.";
    return std::nullopt;
  }
  const StepSettings step = predict::settings_of(info, experiments::training_step().schema);
  const double held_against = peak_of(info, step, peaks);
  const std::int32_t traced = last_traced_step(run);
  const std::vector<record::KernelSpan> spans =
      traced < 0 ? std::vector<record::KernelSpan>() : spans_of(run, {.step = traced});
  const StepWork work = work_of(spans);
  double speed = speed_of(run);
  if (work.length > 0)
    speed = static_cast<double>(step.tokens() * step.micro_batches) * kNanosecondsPerSecond /
            static_cast<double>(work.length);
  if (speed <= 0 || held_against <= 0) {
    why = speed > 0 ? fmt::format("No data sheet here has the peak of {}: set Peak to see this run.", device_name(info))
                    : "The shown run has no times.";
    return std::nullopt;
  }
  StepBudget budget = budget_of(token_flops(step, attention), speed, held_against);
  budget.whose = provenance_line(info);
  if (work.length > 0) divide(budget, run, spans, work);
  return budget;
}

std::optional<StepBudget> least_budget(const StepSettings& step, AttentionFlops attention, const predict::Card& card) {
  const auto seconds = predict::bound_seconds(step, card);
  const auto peak = predict::products_peak(step, card);
  if (!seconds || !peak) return std::nullopt;
  const double whole = std::accumulate(seconds->begin(), seconds->end(), 0.0);
  const auto tokens = static_cast<double>(step.tokens() * step.micro_batches);
  StepBudget budget = budget_of(token_flops(step, attention), tokens / whole, *peak);
  budget.memory = budget.rest;
  budget.rest = 0;
  return budget;
}

std::vector<StepBudget> published_budgets(AttentionFlops attention) {
  std::vector<StepBudget> budgets;
  const predict::Card* const card = predict::card_of_gpu(kReportCard);
  for (const PublishedRun& run : published_runs()) {
    if (card == nullptr || !is_shown(run)) continue;
    const StepSettings step = settings_of(run);
    const TokenFlops flops{.model = predict::model_flops_per_token(step, attention),
                           .again = predict::whole_layers_flops_per_token(step, attention)};
    StepBudget budget = budget_of(flops, run.tokens_per_second, predict::products_peak(step, *card).value_or(0));
    budget.name = fmt::format("{}, {}", run.strategy == "hf" ? "HF" : "Liger", run.batch);
    budget.whose = fmt::format("{}, batch {}, published for an RTX 4090, whole layers recomputed",
                               run.strategy == "hf" ? "Hugging Face" : "Liger's kernels", run.batch);
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

std::vector<StepBudget> ladder_budgets(const Recording& ladder, AttentionFlops attention, const Peaks& peaks) {
  std::vector<StepBudget> budgets;
  for (const SweepPoint& point : ladder.sweep_points()) {
    if (point.series != "ladder" || !completed(point) || point.tokens_per_second <= 0) continue;
    const StepSettings step =
        predict::step_settings(record::Params::known_of(experiments::training_step().schema, point.params));
    const double peak = peak_of(ladder.info(), step, peaks);
    if (peak <= 0) continue;
    StepBudget budget = budget_of(token_flops(step, attention), point.tokens_per_second, peak);
    budget.name = group_of(step);
    RunInfo info = ladder.info();
    for (const auto& [key, value] : point.params) info.params[key] = value;
    budget.whose = fmt::format("{}, “{}”", provenance_line(info), experiments::ladder_label(point.label));
    const auto same = std::ranges::find(budgets, budget.name, &StepBudget::name);
    if (same == budgets.end())
      budgets.push_back(std::move(budget));
    else if (budget.tokens_per_second > same->tokens_per_second)
      *same = std::move(budget);
  }
  return budgets;
}

}  // namespace headroom::lessons
