// A step's peak by kind, at the event of the highest allocated total, so that the bars add up to what must fit.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "lessons/axes.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/shown_range.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Category;

constexpr std::array kPeakByCategorySchema{kShowParam, kStepParam, kRankParam};

std::string percent(Bytes part, Bytes whole) {
  const double share = whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  return share > 0 && share < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string signed_bytes(Bytes bytes, const ShownUnit& unit) {
  return bytes == 0 ? "as in A" : change_text(bytes, unit) + " to A";
}

Bars bars_of(const record::Ledger& run, const record::Peak& peak, const record::Peak* baseline, const CardLimit* card) {
  const Bytes total = peak.totals.allocated;
  const Bytes cap = run.recording().info().cap;
  Bars panel;
  Bytes largest = 0;
  const ShownUnit unit = byte_unit(static_cast<double>(total));
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<Category>(i);
    const Bytes bytes = peak.totals.by_category[static_cast<std::size_t>(i)];
    const Bytes before = baseline == nullptr ? 0 : baseline->totals.by_category[static_cast<std::size_t>(i)];
    if (bytes <= 0 && before <= 0) continue;
    largest = std::max({largest, bytes, before});
    std::string note = percent(bytes, total) + " of the peak";
    if (cap > 0) note += fmt::format(", {} of {}", percent(bytes, cap), short_bytes(cap, unit));
    if (baseline != nullptr) note = signed_bytes(bytes - before, unit);
    panel.bars.push_back({category, capitalised(record::label_of(category)), static_cast<double>(bytes),
                          bytes_text(bytes, unit), std::move(note),
                          baseline == nullptr ? std::nullopt : std::optional(static_cast<double>(before))});
  }
  std::ranges::stable_sort(panel.bars, std::greater{}, &Bar::value);
  panel.x = {.unit = AxisUnit::kBytes, .high = round_up_bytes(static_cast<double>(largest))};
  std::string label = "peak " + bytes_text(total, unit);
  if (baseline != nullptr) label += fmt::format(", {}", signed_bytes(total - baseline->totals.allocated, unit));
  if (card != nullptr) label += "; " + left_label(*card, unit);
  panel.total = total;
  panel.total_label = std::move(label);
  return panel;
}

void add_peak_by_category_panels(FigureData& figure, const FigureInput& input) {
  const record::Recording& recording = input.run->recording();
  const record::Params& params = *input.params;
  const ShownRange shown = shown_range(recording, params);
  set_step(figure.head, shown.range.step);
  figure.head.growing = shown.growing;
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  if (!shown.empty_reason.empty()) return figure.leave_empty(shown.empty_reason);
  const record::Peak peak = input.run->peak(shown.range.first, shown.range.last);
  if (peak.totals.allocated <= 0) return figure.leave_empty("Nothing is allocated yet.");
  std::optional<record::Peak> baseline;
  if (input.baseline != nullptr) {
    const ShownRange before = shown_range(input.baseline->recording(), params);
    if (before.empty_reason.empty()) baseline = input.baseline->peak(before.range.first, before.range.last);
    if (baseline) add_baseline(figure.head.provenance, input.baseline->recording());
  }
  figure.add(bars_of(*input.run, peak, baseline ? &*baseline : nullptr, input.view.card ? &*input.view.card : nullptr));
}

}  // namespace

extern const Figure kPeakByCategory;
constinit const Figure kPeakByCategory{
    .id = "peak_by_category",
    .title = "What the peak is made of",
    .caption = "Bytes of each kind at the moment of the peak",
    .schema = kPeakByCategorySchema,
    .add_panels = add_peak_by_category_panels,
};

}  // namespace headroom::lessons
