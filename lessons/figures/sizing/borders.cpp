// The largest batch by three counts: by bytes in blocks alone, and by PyTorch's allocator with and without expandable
// segments. The steps are the report's (lessons/measurements/tables.h).
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "lessons/figure.h"
#include "lessons/measurements/tables.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

using predict::Verdict;
using record::Bytes;

enum class Border { kBytes, kExpandable, kDefault };
constexpr std::array kAllBorders{Border::kBytes, Border::kExpandable, Border::kDefault};

std::string_view border_name(Border border) {
  constexpr std::array<std::string_view, 3> kNames{"by bytes alone", "expandable segments", "default allocator"};
  return kNames[static_cast<std::size_t>(border)];
}

bool has_allocator_of(Border border, const PredictedStep& step) {
  return step.expandable == (border == Border::kExpandable);
}

bool within_border(Border border, const PredictedStep& step, Bytes limit) {
  return border == Border::kBytes ? step.blocks <= limit : step.asked == 0;
}

std::string border_tip(Border border, const PredictedStep& step, Bytes limit) {
  const ShownUnit unit = byte_unit(static_cast<double>(limit));
  const std::string head = fmt::format("{}, batch {}: ", border_name(border), step.batch),
                    blocks = fmt::format("{} in blocks at the peak", bytes_text(step.blocks, unit));
  if (border == Border::kBytes) return head + fmt::format("{}, of {}", blocks, short_bytes(limit));
  if (step.asked == 0) return head + fmt::format("fits, {}", blocks);
  return head + fmt::format("out of memory, {} requested while {} are free", bytes_text(step.asked, unit),
                            bytes_text(step.free, unit));
}

struct BorderRow {
  Border border{};
  std::vector<const PredictedStep*> steps;  // by batch
  const PredictedStep* largest = nullptr;   // largest that fits
  const PredictedStep* next = nullptr;      // first that does not fit
};

BorderRow border_row(Border border, Bytes limit) {
  BorderRow row{.border = border, .steps = {}};
  for (const PredictedStep& step : predicted_steps()) {
    if (!has_allocator_of(border, step)) continue;
    row.steps.push_back(&step);
    if (within_border(border, step, limit))
      row.largest = &step;
    else if (row.next == nullptr)
      row.next = &step;
  }
  return row;
}

void add_border_row(HeatMap& map, const BorderRow& row, Bytes limit) {
  map.rows.emplace_back(border_name(row.border));
  map.cells.emplace_back();
  map.states.emplace_back();
  map.tips.emplace_back();
  for (const PredictedStep* const step : row.steps) {
    map.cells.back().push_back(static_cast<double>(limit - step->blocks) / static_cast<double>(record::kGiB));
    map.states.back().push_back(within_border(row.border, *step, limit) ? Verdict::kFits : Verdict::kDoesNotFit);
    map.tips.back().push_back(border_tip(row.border, *step, limit));
  }
}

// The batch is limited by bytes or, if more is free than the failed request needs, by gaps.
Table border_table(const std::vector<BorderRow>& rows, const ShownUnit& unit) {
  Table table{.head = "Largest batch", .columns = {"batch", "the next requests", "while free"}};
  for (const BorderRow& row : rows) {
    if (row.border == Border::kBytes) continue;
    table.rows.push_back({.name = std::string(border_name(row.border)),
                          .cells = {record::format_count(row.largest->batch), bytes_text(row.next->asked, unit),
                                    bytes_text(row.next->free, unit)}});
  }
  return table;
}

void add_borders(FigureData& figure, const FigureInput& input) {
  record::Params report(experiments::training_step().schema);
  experiments::apply(report, experiments::report_settings(/*quick=*/false));
  const Bytes limit = report.integer("cap");
  std::vector<BorderRow> rows;
  for (const Border border : kAllBorders)
    if (border == Border::kBytes || !input.view.hidden)
      rows.push_back(border_row(border, limit));  // the other borders are the question
  HeatMap map;
  map.title = fmt::format("Steps under {}", short_bytes(limit));
  map.low = 0;
  map.high_text = "GiB of the limit that tensors leave; negative: missing";
  map.x_name = "sequences of 1,024 tokens in a batch";
  for (const PredictedStep* const step : rows.front().steps) map.columns.push_back(record::format_count(step->batch));
  for (const BorderRow& row : rows) add_border_row(map, row, limit);
  figure.head.source = record::Source::kPredicted;
  figure.head.provenance["requests"] = "of report_hf_4_h200 and report_hf_8_h200, extrapolated to other batches";
  figure.head.provenance_line = "the report's step with the code of 2024, from its recorded requests";
  figure.add(std::move(map));
  if (!input.view.hidden) figure.add(border_table(rows, byte_unit(static_cast<double>(limit))));
}

}  // namespace

extern const Figure kBorders;
constinit const Figure kBorders{
    .id = "borders",
    .title = "Where the batch ends",
    .caption = "The batches that fit on the report's card: by bytes alone, and by the allocator in both of its modes",
    .schema = {},
    .basis = Basis::kParameters,
    .add_panels = add_borders,
};

}  // namespace headroom::lessons
