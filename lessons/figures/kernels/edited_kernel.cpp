// The reader's kernel next to the built-in one, compared with a copy of as many bytes.
#include <algorithm>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"

namespace headroom::lessons {
namespace {

std::string form_label(std::string_view variant) {
  if (variant == "yours") return "yours";
  return variant == "fused" ? "the built-in kernel" : variant_label(variant);
}

void add_edited_kernel_panels(FigureData& figure, const FigureInput& input) {
  if (!begin_bench(figure.head, input)) {
    if (input.run != nullptr && !figure.head.growing)
      figure.head.empty_reason = "A kernel is timed on a GPU, once its result is right.";
    return;
  }
  const auto rows = rows_of(input.run->recording(), record::Measurement::kEditKernel, "forward", "cold");
  const auto copy = std::ranges::find_if(rows, [](const auto* row) { return row->variant == "copy"; });
  if (copy == rows.end() || !((*copy)->median > 0)) return figure.leave_empty("This run timed no kernel of yours.");
  Chart chart;
  const RowUnits units = units_of(rows);
  for (const Measurement* row : rows) {
    if (row == *copy || !(row->low > 0)) continue;
    const double part = 100 * (*copy)->median / row->median;
    ChartPoint point{
        .x = 0,
        .y = part,
        .low = 100 * (*copy)->median / row->high,
        .high = 100 * (*copy)->median / row->low,
        .label = fmt::format("{:.0f} %, {}", part, amount_text(row->median, units.time)),
        .tip = fmt::format("{}: {}, {} repeats; {}", form_label(row->variant), time_with_spread(*row, units.time),
                           row->samples, amount_text(rate_of(*row), units.rate))};
    chart.series.push_back(
        {.label = form_label(row->variant), .kind = kind_of(row->variant), .points = {std::move(point)}});
  }
  make_parts_of_copy(chart,
                     {fmt::format("{}, {} × {}", (*copy)->label, record::format_count((*copy)->rows),
                                  record::format_count((*copy)->width))},
                     "a copy of as many bytes, " + amount_text(rate_of(**copy), units.rate));
  figure.add(std::move(chart));
}

}  // namespace

extern const Figure kEditedKernel;
constinit const Figure kEditedKernel{
    .id = "edited_kernel",
    .title = "Your kernel",
    .caption = "The fraction of a copy's bandwidth that your kernel reaches, next to the built-in one",
    .schema = {},
    .add_panels = add_edited_kernel_panels,
};

}  // namespace headroom::lessons
