// The peak of each rank of a run by kind, with what the rank sends.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/record/rows/collective.h"
#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/shown_range.h"

namespace headroom::lessons {
namespace {

constexpr std::array kRankPeaksSchema{kShowParam, kStepParam};

void add_rank_peaks_panels(FigureData& figure, const FigureInput& input) {
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  if (input.run->other_ranks().empty())
    return figure.leave_empty("This run has one rank: set GPUs (ranks) to 2 or more, and run it.");
  Rungs panel;
  Table table{.head = "Collectives",
              .columns = {"collectives", "sent", "time in them"},
              .foot = "A ring is assumed for the bytes sent; the time includes waiting for other ranks."};
  double largest = 0;
  for (const record::Ledger* const rank : input.ranks) {
    const record::Recording& run = rank->recording();
    const ShownRange shown = shown_range(run, *input.params);
    if (!shown.empty_reason.empty()) return figure.leave_empty(shown.empty_reason);
    set_step(figure.head, shown.range.step);
    figure.head.growing = figure.head.growing || shown.growing;
    const record::Totals totals = rank->peak(shown.range.first, shown.range.last).totals;
    largest = std::max(largest, static_cast<double>(totals.allocated));
    panel.rungs.push_back({.label = fmt::format("Rank {}", run.info().rank),
                           .bytes = totals.by_category,
                           .out_of_memory = run.outcome() && run.outcome()->kind == record::OutcomeKind::kOutOfMemory &&
                                            !run.events().empty() &&
                                            run.events().back().kind == record::EventKind::kOutOfMemory,
                           .value = record::format_bytes(totals.allocated)});
    const record::CollectiveSums sums = record::sums_of(run.collectives(), shown.range.step);
    table.rows.push_back(
        {.name = panel.rungs.back().label,
         .cells = {std::to_string(sums.count), record::format_bytes(sums.sent), record::format_duration(sums.time)}});
  }
  panel.peaks = {.unit = AxisUnit::kBytes, .high = round_up_bytes(largest)};
  figure.add(std::move(panel));
  figure.add(std::move(table));
}

}  // namespace

extern const Figure kRankPeaks;
constinit const Figure kRankPeaks{
    .id = "rank_peaks",
    .title = "Peak and traffic of each rank",
    .caption = "Every rank's peak, and the bytes that it sends in a step",
    .schema = kRankPeaksSchema,
    .add_panels = add_rank_peaks_panels,
};

}  // namespace headroom::lessons
