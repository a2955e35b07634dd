// Three borders of one batch: by the bytes in blocks alone, and by PyTorch's allocator with and without expandable segments.
// The steps are the report's, under its limit (lessons/predicted_steps.h): it needs no run.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "lessons/figure.h"
#include "lessons/predicted_steps.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

using predict::Verdict;
using record::Bytes;

enum class Border { kBytes, kExpandable, kDefault };
constexpr std::array kBorders{Border::kBytes, Border::kExpandable, Border::kDefault};

std::string_view name_of(Border border) {
  constexpr std::array<std::string_view, 3> kNames{"by bytes alone", "expandable segments", "default allocator"};
  return kNames[static_cast<std::size_t>(border)];
}

bool of(Border border, const PredictedStep& step) { return step.expandable == (border == Border::kExpandable); }

bool fits(Border border, const PredictedStep& step, Bytes limit) {
  return border == Border::kBytes ? step.blocks <= limit : step.asked == 0;
}

// What is left of the limit; of a step that failed, negative: what the largest free piece lacks for the request.
Bytes left(Border border, const PredictedStep& step, Bytes limit) {
  if (border == Border::kBytes) return limit - step.blocks;
  return step.asked > 0 ? step.piece - step.asked : limit - step.reserved;
}

std::string tip_of(Border border, const PredictedStep& step, Bytes limit) {
  const ShownUnit unit = byte_unit(static_cast<double>(limit));
  const std::string head = fmt::format("{}, batch {}: ", name_of(border), step.batch);
  if (border == Border::kBytes)
    return head + fmt::format("{} in blocks at the peak, of {}", bytes_text(step.blocks, unit), short_bytes(limit));
  if (step.asked == 0)
    return head + fmt::format("at most {} reserved, of {}", bytes_text(step.reserved, unit), short_bytes(limit));
  return head + fmt::format("out of memory: {} asked for, the largest free piece has {}", bytes_text(step.asked, unit),
                            bytes_text(step.piece, unit));
}

struct Row {
  Border border{};
  std::vector<const PredictedStep*> steps;  // by batch
  const PredictedStep* largest = nullptr;   // that fits
  const PredictedStep* next = nullptr;      // the first that does not
};

Row row_of(Border border, Bytes limit) {
  Row row{.border = border, .steps = {}};
  for (const PredictedStep& step : predicted_steps()) {
    if (!of(border, step)) continue;
    row.steps.push_back(&step);
    if (fits(border, step, limit))
      row.largest = &step;
    else if (row.next == nullptr)
      row.next = &step;
  }
  return row;
}

void add_row(HeatMap& map, const Row& row, Bytes limit) {
  map.rows.emplace_back(name_of(row.border));
  map.cells.emplace_back();
  map.states.emplace_back();
  map.tips.emplace_back();
  for (const PredictedStep* const step : row.steps) {
    const Bytes bytes = left(row.border, *step, limit);
    map.cells.back().push_back(static_cast<double>(bytes) / static_cast<double>(record::kGiB));
    map.states.back().push_back(fits(row.border, *step, limit) ? Verdict::kFits : Verdict::kDoesNotFit);
    map.tips.back().push_back(tip_of(row.border, *step, limit));
  }
}

// What ends the batch: where enough is free in all, it is the pieces.
Table table_of(const std::vector<Row>& rows, const ShownUnit& unit) {
  Table table{
      .head = "Largest batch", .columns = {"batch", "the next asks for", "free in all", "in one piece"}, .rows = {}};
  for (const Row& row : rows) {
    if (row.border == Border::kBytes) continue;
    table.rows.push_back({.category = {},
                          .name = std::string(name_of(row.border)),
                          .note = {},
                          .cells = {record::format_count(row.largest->batch), bytes_text(row.next->asked, unit),
                                    bytes_text(row.next->free, unit), bytes_text(row.next->piece, unit)},
                          .tip = {}});
  }
  return table;
}

void add_panels(FigureData& figure, const FigureInput& input) {
  record::Params report(experiments::training_step().schema);
  experiments::apply(report, experiments::report_settings(/*quick=*/false));
  const Bytes limit = report.integer("cap");
  std::vector<Row> rows;
  for (const Border border : kBorders)
    if (border == Border::kBytes || !input.view.hidden) rows.push_back(row_of(border, limit));  // the question
  HeatMap map;
  map.title = fmt::format("Steps under {}", short_bytes(limit));
  map.low = 0;
  map.high_text = "GiB left of the limit; − missing in the largest free piece";
  map.x_name = "sequences of 1,024 tokens in a batch";
  for (const PredictedStep* const step : rows.front().steps) map.columns.push_back(record::format_count(step->batch));
  for (const Row& row : rows) add_row(map, row, limit);
  figure.head.source = record::Source::kPredicted;
  figure.head.provenance_line = "the report's step with the code of 2024, from its recorded requests";
  figure.panels.emplace_back(std::move(map));
  if (!input.view.hidden) figure.panels.emplace_back(table_of(rows, byte_unit(static_cast<double>(limit))));
}

}  // namespace

extern const Figure kBorders;
constinit const Figure kBorders{
    .id = "borders",
    .title = "Where the batch ends",
    .caption = "The batches that fit on the report's card: by bytes alone, and by the allocator in both of its ways",
    .schema = {},
    .basis = Basis::kParameters,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
