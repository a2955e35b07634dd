// One bar per run: a step's time divided into the model's operations at the device's peak (MFU), recomputed operations
// (with them, HFU), and the rest.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/predict/time/bound_times.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"
#include "lessons/measurements/sweep.h"
#include "lessons/params.h"
#include "lessons/steps/step_budget.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;
constexpr double kBarAndNumber = 115;  // percent: a whole step, and room for a number
constexpr std::array<record::Choice, 2> kAgainst{{{"data_sheet", "data sheet"}, {"measured", "measured"}}};
constexpr std::array kStepBudgetSchema{
    experiments::choice("attention_flops", "Attention FLOPs", "Attention GEMMs that count as the model's operations",
                        predict::kChoicesOf<predict::kAttentionFlops>, "none"),
    experiments::choice(
        "against", "Peak of",
        "Peak of a format: from the card's data sheet, or the fastest GEMM timed on such a card, if any was", kAgainst,
        "data_sheet"),
    whole_param("peak", "Peak, GFLOP/s", "Peak to compare the shown run with; 0: the peak chosen for its card", 0,
                5'000'000, 0),
};

struct BudgetPart {
  const char* label;
  SeriesKind kind;
  bool dashed;
  double StepBudget::*share;
};
// Parts from the bottom of a bar.
constexpr std::array<BudgetPart, 6> kBudgetParts{
    {{"the model's operations at the peak (MFU)", SeriesKind::kFused, false, &StepBudget::model},
     {"recomputed, at the peak", SeriesKind::kFused, false, &StepBudget::again},
     {"matrix multiplications below the peak", SeriesKind::kEager, false, &StepBudget::products},
     {"memory-bound: all other kernels", SeriesKind::kOther, false, &StepBudget::memory},
     {"idle", SeriesKind::kLibrary, false, &StepBudget::idle},
     {"not split: slower kernels, memory, idle", SeriesKind::kOther, true, &StepBudget::rest}}};

predict::AttentionFlops attention_of(const record::Params& params) {
  for (const auto& each : predict::kAttentionFlops)
    if (params.text("attention_flops") == each.choice.key) return each.meaning;
  return predict::AttentionFlops::kNone;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string tera(double flops) { return fmt::format("{:.3g} TFLOP/s", flops / kTera); }

std::string tip_of(const StepBudget& budget) {
  std::string text = fmt::format("{}: {} tokens/s × {:.4g} GFLOP = {} of {}: MFU {}, HFU {}", budget.whose,
                                 speed_text(budget.tokens_per_second), budget.flops_per_token / kGiga,
                                 tera(budget.tokens_per_second * budget.flops_per_token), tera(budget.peak),
                                 percent(budget.mfu()), percent(budget.hfu()));
  for (const BudgetPart& part : std::span(kBudgetParts).subspan(2))
    if (budget.*part.share > 0) text += fmt::format("; {} {}", part.label, percent(budget.*part.share));
  return text;
}

Chart chart_of(std::string title, std::string places, const std::vector<StepBudget>& budgets) {
  Chart chart;
  chart.title = std::move(title);
  chart.bars = chart.stacked = true;
  for (const BudgetPart& part : kBudgetParts) {
    ChartSeries series{.label = part.label, .kind = part.kind, .published = part.dashed};
    for (std::size_t i = 0; i < budgets.size(); ++i) {
      const double share = 100 * (budgets[i].*part.share);
      const std::string of_bar = percent(budgets[i].mfu());
      series.points.push_back(exact_point(static_cast<double>(i), share, tip_of(budgets[i]), of_bar));
    }
    chart.series.push_back(std::move(series));
  }
  for (const StepBudget& each : budgets) chart.categories.push_back(each.name);
  chart.x = category_axis(budgets.size(), std::move(places));
  chart.y = {.unit = AxisUnit::kPercent, .high = kBarAndNumber, .name = "of a step's time; above: MFU"};
  return chart;
}

Table sums_of(const std::vector<StepBudget>& budgets, std::string foot) {
  Table table{.head = "From tokens per second to MFU",
              .columns = {"tokens/s", "× GFLOP per token", "= TFLOP/s", "peak", "MFU", "HFU"},
              .foot = std::move(foot)};
  for (const StepBudget& each : budgets)
    table.rows.push_back(
        {.name = each.name,
         .cells = {speed_text(each.tokens_per_second), fmt::format("{:.4g}", each.flops_per_token / kGiga),
                   fmt::format("{:.3g}", each.tokens_per_second * each.flops_per_token / kTera),
                   fmt::format("{:.3g}", each.peak / kTera), percent(each.mfu()), percent(each.hfu())},
         .tip = tip_of(each)});
  return table;
}

// If requested, cards with measured GEMM rates in the page's recordings.
std::vector<predict::Card> measured_cards(const FigureInput& input) {
  std::vector<predict::Card> cards;
  if (input.params->text("against") != "measured") return cards;
  for (const record::Ledger* each : input.beside)
    if (has_product_rates(each->recording()))
      if (auto card = measured_card(each->recording())) cards.push_back(*std::move(card));
  return cards;
}

// Budgets of the shown run and run A, and the bound for the settings. `why` says what is missing.
std::vector<StepBudget> own_budgets(const FigureInput& input, predict::AttentionFlops attention,
                                    const std::vector<predict::Card>& measured, std::string& why) {
  std::vector<StepBudget> budgets;
  const Peaks peaks{.given = kGiga * static_cast<double>(input.params->integer("peak")), .measured = measured};
  const auto add = [&](std::optional<StepBudget> budget, const char* name) {
    if (!budget) return;
    budget->name = name;
    budgets.push_back(*std::move(budget));
  };
  std::string ignored;
  if (input.baseline != nullptr) add(budget_of(input.baseline->recording(), attention, peaks, ignored), "run A");
  if (input.run != nullptr) add(budget_of(input.run->recording(), attention, peaks, why), "this run");
  if (input.settings == nullptr) return budgets;
  const predict::Card* card = predict::bound_card();
  if (card != nullptr) card = peaks.card_of_gpu(card->driver_name);
  if (input.run != nullptr) {
    const predict::Card* const of_run = peaks.card_of_gpu(value_of(input.run->recording().info().provenance, "gpu"));
    if (of_run != nullptr) card = of_run;
  }
  if (card == nullptr) return budgets;
  const predict::StepSettings step = predict::step_settings(experiments::step_params(*input.settings));
  auto least = least_budget(step, attention, *card);
  if (least) least->whose = fmt::format("the bound of these settings on one {}", card->name);
  add(std::move(least), "at best");
  return budgets;
}

void say_whose(FigureHead& head, const FigureInput& input) {
  if (input.run != nullptr) set_run(head, input.run->recording(), *input.params);
  if (input.run != nullptr && input.baseline != nullptr) add_baseline(head.provenance, input.baseline->recording());
  if (input.settings != nullptr) add_settings(head, *input.settings);
}

void add_step_budget_panels(FigureData& figure, const FigureInput& input) {
  const predict::AttentionFlops attention = attention_of(*input.params);
  say_whose(figure.head, input);
  if (!input.view.hidden)
    figure.add(chart_of("Published, RTX 4090; peak: data sheet",
                        "Hugging Face or Liger, batch size; whole layers recomputed", published_budgets(attention)));
  const std::vector<predict::Card> measured = measured_cards(input);
  std::vector<StepBudget> recorded;
  for (const record::Ledger* each : input.beside)
    for (StepBudget& budget : ladder_budgets(each->recording(), attention, {.measured = measured}))
      recorded.push_back(std::move(budget));
  std::string foot;
  const std::vector<StepBudget> own = own_budgets(input, attention, measured, foot);
  recorded.insert(recorded.end(), own.begin(), own.end());
  if (!recorded.empty())
    figure.add(
        chart_of("Recorded, and at best", "fastest rungs of the ladder; this page's run and settings", recorded));
  if (foot.empty() && input.settings != nullptr)
    foot = fmt::format("At best: GEMMs at the {}, all other bytes once at the card's bandwidth.",
                       measured.empty() ? "data sheet's peak" : "measured peak");
  if (!own.empty()) figure.add(sums_of(own, foot));
  if (figure.panels.empty()) figure.head.empty_reason = foot;
}

}  // namespace

extern const Figure kStepBudget;
constinit const Figure kStepBudget{
    .id = "step_budget",
    .title = "Where the time of a step goes",
    .caption =
        "Shares of a training step's time: the model's operations at the peak, recomputed ones (whole layers in the "
        "published runs), memory, idle",
    .schema = kStepBudgetSchema,
    .basis = Basis::kSettings,
    .add_panels = add_step_budget_panels,
};

}  // namespace headroom::lessons
