// Two recipes for one step on one card, switch by switch: the report's order by closed form, and the cheapest switches
// that suffice, predicted if a planner has advised.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/advice.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/technique_table.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"

namespace headroom::lessons {
namespace {

using experiments::Technique;
using predict::Verdict;
using record::Bytes;
using record::Params;

struct Recipe {
  std::string head;
  std::vector<const Technique*> switches;  // in order
  bool enough = false;
  const experiments::AdvisedSet* predicted = nullptr;
};

predict::Fit fit_of(const Params& params, const CardLimit& card) {
  return predict::fit_of_closed_form(experiments::closed_form_peak(params), card.memory, card.process, false);
}

// Sorts "always, 3" before "out of memory, 4" before "batch, 2".
int place_in_report(const Technique& what) {
  constexpr std::array<std::string_view, 3> kParts{"always", "out of memory", "batch"};
  const std::string_view place = what.report_place;
  const std::size_t comma = place.find(',');
  const auto part = std::ranges::find(kParts, place.substr(0, comma)) - kParts.begin();
  return static_cast<int>(part) * 100 + (place[comma + 2] - '0');
}

// The always-on switches, then further switches one by one until the step fits.
Recipe report_recipe(const Params& start, const CardLimit& card) {
  std::vector<const Technique*> order;
  for (const Technique& each : experiments::memory_techniques())
    if (!each.report_place.empty()) order.push_back(&each);
  std::ranges::stable_sort(order, {}, [](const Technique* each) { return place_in_report(*each); });
  Recipe recipe{.head = "The report's order"};
  Params so_far = start;
  for (const Technique* const each : order) {
    recipe.enough = fit_of(so_far, card).verdict == Verdict::kFits;
    if (recipe.enough && !each->report_place.starts_with("always")) break;
    // Only the last variant of an always-on switch is used, because it needs the least memory.
    const bool other_way =
        each->report_place.starts_with("always") && std::ranges::any_of(order, [&](const auto* later) {
          return later > each && later->report_place == each->report_place &&
                 later->keys().front() == each->keys().front();
        });
    const auto on = experiments::turned_on(*each, so_far);
    if (other_way || !on || experiments::refused_combination(*on, record::DeviceKind::kGpu)) continue;
    so_far = *on;
    recipe.switches.push_back(each);
  }
  recipe.enough = fit_of(so_far, card).verdict == Verdict::kFits;
  return recipe;
}

// The advisor's first set.
Recipe predicted_recipe(const std::vector<experiments::AdvisedSet>& advised) {
  Recipe recipe{.head = "The cheapest switches, predicted", .enough = advised.empty() || advised.front().fits()};
  if (advised.empty()) return recipe;
  recipe.predicted = &advised.front();
  for (const experiments::AdvisedSwitch& each : advised.front().switches) recipe.switches.push_back(each.what);
  return recipe;
}

// The same search, judged by closed form.
Recipe cheapest(const Params& start, const CardLimit& card) {
  Recipe recipe{.head = "The cheapest switches"};
  experiments::AdviceSearch search(start, card.process.margin, {});
  search.advance([&](const Params& params) { return experiments::Judged{.fit = fit_of(params, card)}; });
  recipe.enough = search.start().fit.verdict == Verdict::kFits;
  if (recipe.enough || search.sets().empty()) return recipe;
  const experiments::AdvisedSet& first = search.sets().front();
  recipe.enough = first.fits();
  for (const experiments::AdvisedSwitch& each : first.switches) recipe.switches.push_back(each.what);
  return recipe;
}

TableRow row_of(std::string name, std::string note, std::string gives_up, std::string time, const predict::Fit& fit,
                const ShownUnit& unit) {
  TableRow row{.name = std::move(name),
               .note = std::move(note),
               .cells = {std::move(gives_up), std::move(time), bytes_text(fit.reserved, unit),
                         std::string(predict::label_of(fit.verdict))}};
  row.tip = fmt::format("{}: {}, {}", row.name, row.cells[2], row.cells[3]);
  return row;
}

// With the recipe's switches up to `index`.
predict::Fit fit_after(const Recipe& recipe, std::size_t index, const Params& settings, const CardLimit& card) {
  return recipe.predicted == nullptr ? fit_of(settings, card) : recipe.predicted->switches[index].fit;
}

Table table_of(const Recipe& recipe, const Params& start, const CardLimit& card) {
  Table table{.head = recipe.head, .columns = {"gives up", "a step takes", "then takes", "on " + card.name}};
  const predict::Fit as_it_is = fit_of(start, card);
  const ShownUnit unit = byte_unit(static_cast<double>(std::max(as_it_is.reserved, card.memory)));
  table.rows.push_back(row_of("No switch", {}, "", "", as_it_is, unit));
  Params so_far = start;
  for (const Technique* const each : recipe.switches) {
    if (auto on = experiments::turned_on(*each, so_far)) so_far = *std::move(on);
    const std::string time = each->cost.time();
    const predict::Fit fit = fit_after(recipe, table.rows.size() - 1, so_far, card);
    table.rows.push_back(row_of(fmt::format("{}. {}", table.rows.size(), each->label), each->reason,
                                std::string(each->cost.given_up()), time.empty() ? "–" : time, fit, unit));
  }
  table.foot =
      recipe.enough && recipe.predicted != nullptr ? "Bytes as Make it fit predicts them; times of Llama 3.2 1B with 4 "
                                                     "× 1,024 tokens on an H200, one technique at "
                                                     "a time."
      : recipe.enough
          ? "Bytes by closed form; times of Llama 3.2 1B with 4 × 1,024 tokens on an H200, one technique at a time."
          : "Not enough: use a smaller batch or model, or more GPUs.";
  return table;
}

void add_recipe_steps_panels(FigureData& figure, const FigureInput& input) {
  const Params settings = reader_step(input);
  if (!begin_on_card(figure.head, input.view, settings)) return;
  const CardLimit card = card_limit(input.view, settings);
  figure.add(table_of(report_recipe(settings, card), settings, card));
  const Recipe second = input.advised != nullptr ? predicted_recipe(*input.advised) : cheapest(settings, card);
  figure.add(table_of(second, settings, card));
}

}  // namespace

extern const Figure kRecipeSteps;
constinit const Figure kRecipeSteps{
    .id = "recipe_steps",
    .title = "Two recipes for one card",
    .caption =
        "What a step takes, switch by switch, in the order that the report recommends, and with the cheapest switches",
    .schema = {},
    .basis = Basis::kFormula,
    .on_card = true,
    .takes_advice = true,
    .add_panels = add_recipe_steps_panels,
};

}  // namespace headroom::lessons
