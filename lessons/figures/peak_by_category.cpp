// What the peak of a step is made of: one bar a kind, at the event of the highest allocated total, so that the bars add
// up to what has to fit.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "lessons/alive.h"
#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/shown_range.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kPeakByCategory;

namespace {

using record::Bytes;
using record::Category;

constexpr std::array kSchema{kShowParam, kStepParam};

std::string percent(Bytes part, Bytes whole) {
  const double share = whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  return share > 0 && share < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", share);
}

std::string signed_text(Bytes bytes) {
  return bytes == 0 ? "as in A" : (bytes > 0 ? "+" : "−") + record::format_bytes(bytes > 0 ? bytes : -bytes) + " to A";
}

// `ghost`: of run A; null: there is none.
void fill(FigureData& figure, const record::Ledger& run, const record::Peak& peak, const record::Peak* ghost) {
  const Bytes total = peak.totals.allocated;
  const Bytes cap = run.recording().info().cap;
  Bytes largest = 0;
  for (int i = 0; i < record::kNumCategories; ++i) {
    const auto category = static_cast<Category>(i);
    const Bytes bytes = peak.totals.by_category[static_cast<std::size_t>(i)];
    const Bytes before = ghost == nullptr ? 0 : ghost->totals.by_category[static_cast<std::size_t>(i)];
    if (bytes <= 0 && before <= 0) continue;
    largest = std::max({largest, bytes, before});
    std::string note = percent(bytes, total) + " of the peak";
    if (cap > 0) note += fmt::format(", {} of {}", percent(bytes, cap), short_bytes(cap));
    if (ghost != nullptr) note = signed_text(bytes - before);
    figure.bars.push_back({category, capitalised(record::label_of(category)), static_cast<double>(bytes),
                           record::format_bytes(bytes, 2), std::move(note),
                           ghost == nullptr ? std::nullopt : std::optional(static_cast<double>(before))});
  }
  std::stable_sort(figure.bars.begin(), figure.bars.end(),
                   [](const Bar& a, const Bar& b) { return a.value > b.value; });
  figure.x = {.unit = AxisUnit::kBytes, .low = 0, .high = round_up_bytes(static_cast<double>(largest))};
  std::string label = "peak " + record::format_bytes(total, 2);
  if (ghost != nullptr) label += fmt::format(", {}", signed_text(total - ghost->totals.allocated));
  figure.peak = PeakMark{0, static_cast<double>(total), std::move(label)};
}

FigureData build(const FigureInput& input) {
  FigureData figure;
  figure.id = kPeakByCategory.id;
  figure.title = kPeakByCategory.title;
  figure.x.unit = AxisUnit::kBytes;
  if (input.run == nullptr) {
    figure.empty_reason = "Nothing has run yet.";
    return figure;
  }
  const record::Params defaults(kSchema);
  const record::Recording& recording = input.run->recording();
  figure.source = recording.info().source;
  figure.provenance_line = provenance_line(recording.info());
  const record::Params& params = input.params ? *input.params : defaults;
  const ShownRange shown = shown_range(recording, params);
  figure.provenance = full_provenance(recording, params, shown.range.step);
  figure.growing = shown.growing;
  figure.empty_reason = shown.empty_reason;
  if (input.view.veiled) figure.empty_reason = "This is part of the answer: it shows when the question is answered.";
  if (!figure.empty_reason.empty()) return figure;
  const record::Peak peak = input.run->peak(shown.range.first, shown.range.last);
  if (peak.totals.allocated <= 0) {
    figure.empty_reason = "Nothing is allocated yet.";
    return figure;
  }
  std::optional<record::Peak> ghost;
  if (input.ghost != nullptr) {
    const ShownRange before = shown_range(input.ghost->recording(), params);
    if (before.empty_reason.empty()) ghost = input.ghost->peak(before.range.first, before.range.last);
    if (ghost) add_run_a(figure.provenance, input.ghost->recording());
  }
  fill(figure, *input.run, peak, ghost ? &*ghost : nullptr);
  return figure;
}

}  // namespace

constinit const Figure kPeakByCategory{
    .id = "peak_by_category",
    .title = "What the peak is made of",
    .caption = "Bytes of each kind at the moment when most is allocated",
    .schema = kSchema,
    .build = build,
};

}  // namespace headroom::lessons
