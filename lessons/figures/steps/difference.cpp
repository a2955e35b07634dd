// A measured step next to its prediction or to run A: bytes by kind, phase or layer, and the first event that differs.
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/run_lines.h"
#include "lessons/steps/step_difference.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 3> kRowChoices{{
    {"kind", "by kind of memory, at the peak"},
    {"phase", "by phase, the peak of each"},
    {"layer", "by layer, at the peak"},
}};
constexpr std::array kDifferenceSchema{
    experiments::choice("rows", "Rows", "What the rows of the table are", kRowChoices, "kind"),
};

// The two runs; `why_not` says why there are none and what to do.
struct Sides {
  const record::Ledger *run = nullptr, *other = nullptr;
  std::string run_name, other_name;
  std::string why_not;
};

Sides sides_of(const FigureInput& input) {
  Sides sides{.run = input.run != nullptr ? input.run : input.predicted, .other = input.baseline};
  if (sides.run == nullptr) return {.why_not = "Nothing has run yet: press Run to compare a run with its prediction."};
  sides.run_name = is_predicted(sides.run->recording()) ? "predicted" : "measured";
  sides.other_name = "A";
  if (input.baseline != nullptr) return sides;
  if (is_predicted(sides.run->recording()))
    return {.why_not = "These settings have not run here: press Run to compare a run with its prediction."};
  const std::string or_pin = ", or pin a run as A.";
  if (input.predicted == nullptr) return {.why_not = "There is no prediction of this run yet: wait for it" + or_pin};
  if (input.predicted->recording().info().source == record::Source::kFormula)
    return {.why_not = "The closed form has no events to compare: build the engine with `./run`" + or_pin};
  if (!is_prediction_of(input.predicted->recording(), sides.run->recording()))
    return {.why_not = "The shown run has other settings: press Run to measure these" + or_pin};
  sides.other = input.predicted;
  sides.other_name = "predicted";
  return sides;
}

Table table_of(const StepDifference& difference, const Sides& sides, const std::string& rows) {
  const ShownUnit unit = byte_unit(static_cast<double>(std::max(difference.peak.run, difference.peak.other)));
  Table table{.head = "", .columns = {sides.other_name, sides.run_name, "difference"}};
  const auto add = [&](const DifferenceRow& row) {
    table.rows.push_back(
        {.category = row.category,
         .name = row.name,
         .cells = {bytes_text(row.other, unit), bytes_text(row.run, unit), change_text(row.change(), unit)},
         .tip = fmt::format("{}: {} {} B, {} {} B", row.name, sides.other_name, record::format_count(row.other),
                            sides.run_name, record::format_count(row.run))});
  };
  for (const DifferenceRow& row : rows == "phase"   ? difference.phases
                                  : rows == "layer" ? difference.layers
                                                    : difference.kinds)
    add(row);
  add(difference.peak);
  table.foot = difference_words(difference) + ".";
  return table;
}

Table parting_table(const Parting& parting, const Sides& sides) {
  const PartingWords words = parting_words(parting, *sides.run, *sides.other, EventBytes::kExact);
  return {.head = "The first event that differs",
          .rows = {{.name = capitalised(sides.other_name), .note = words.other},
                   {.name = capitalised(sides.run_name), .note = words.run}}};
}

void add_difference_panels(FigureData& figure, const FigureInput& input) {
  figure.head.provenance = {{"figure.rows", input.params->text("rows")}};
  const Sides sides = sides_of(input);
  if (sides.run != nullptr) set_run(figure.head, sides.run->recording(), *input.params);
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  if (!sides.why_not.empty()) return figure.leave_empty(sides.why_not);
  const auto step = record::last_whole_step(sides.run->recording());
  const auto other_step = record::last_whole_step(sides.other->recording());
  if (!step || !other_step)
    return figure.leave_empty(fmt::format("The {} has no whole training step to compare.",
                                          step ? sides.other_name == "A" ? "run A" : "prediction" : "run"));
  set_step(figure.head, step->step);
  if (input.baseline != nullptr) add_baseline(figure.head.provenance, input.baseline->recording());
  const StepDifference difference = step_difference(*sides.run, *step, *sides.other, *other_step);
  figure.head.provenance["difference"] = difference_words(difference);
  figure.add(table_of(difference, sides, input.params->text("rows")));
  if (difference.pairs.parting()) figure.add(parting_table(*difference.pairs.parting(), sides));
}

}  // namespace

extern const Figure kDifference;
constinit const Figure kDifference{
    .id = "difference",
    .title = "Difference",
    .caption = "What a measured step takes, next to its prediction or to run A, and the first event that differs",
    .schema = kDifferenceSchema,
    .basis = Basis::kSettings,
    .compares = true,
    .add_panels = add_difference_panels,
};

}  // namespace headroom::lessons
