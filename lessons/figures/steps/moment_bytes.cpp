// Bytes and errors of 8-bit moments: the formula with a model's numbers, next to measured errors.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "demos/llama/config.h"
#include "demos/predict/optimizers.h"
#include "lessons/figure.h"
#include "lessons/measurements/moment_errors.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/theory/formulas.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;

constexpr std::array kMomentBytesSchema{
    experiments::choice("model", "Model", "Model with the P parameters", kFormulaModels, "llama-3.2-1b")};

std::string percent_text(double value) { return value < 0 ? "–" : fmt::format("{:.1f} %", value); }

std::string change(double b, double a) {
  if (a < 0 || b < 0) return "–";
  return (b < a ? "−" : "+") + percent_text(std::abs(b - a));
}

constexpr Bytes kInFp32 = 4 + 4;  // bytes of both moments of a parameter

// The unit of the largest bytes, those of fp32 moments.
ShownUnit unit_of(std::int64_t parameters) { return byte_unit(static_cast<double>(kInFp32 * parameters)); }

TableRow fp32_row(std::int64_t parameters, std::size_t cells) {
  const Bytes bytes = kInFp32 * parameters;
  TableRow row{.category = record::Category::kOptimizerState,
               .name = "fp32",
               .note = fmt::format("(4 + 4) · P = 8 × {}", record::format_count(parameters)),
               .cells = {bytes_text(bytes, unit_of(parameters)), "0", "0"}};
  if (cells > row.cells.size()) row.cells.emplace_back("–");
  row.tip = fmt::format("Two moments in fp32, {} B", record::format_count(bytes));
  return row;
}

TableRow way_row(const MomentWay& way, std::int64_t parameters) {
  const Bytes bytes = predict::moments_8bit_bytes(parameters, way.block);
  TableRow row{.category = record::Category::kOptimizerState,
               .name = way.label(),
               .note = fmt::format("(1 + 1 + 8/{}) · P = {:.3f} × {}", record::format_count(way.block),
                                   2 + 8.0 / static_cast<double>(way.block), record::format_count(parameters)),
               .cells = {bytes_text(bytes, unit_of(parameters))}};
  row.tip = fmt::format("{}, {} B", way.label(), record::format_count(bytes));
  return row;
}

void add_moment_bytes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const record::Recording& recording = input.run->recording();
  const std::vector<MomentWay> first = moment_ways(recording, "first_moment");
  const std::vector<MomentWay> second = moment_ways(recording, "second_moment");
  if (first.empty()) return figure.leave_empty("This run did not compare its moments with their 8-bit versions.");
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  std::vector<MomentWay> of_a;
  if (input.baseline != nullptr) {
    of_a = moment_ways(input.baseline->recording(), "first_moment");
    add_baseline(figure.head.provenance, input.baseline->recording());
  }
  const std::int64_t parameters = llama::num_parameters(*llama::find_config(params.text("model")));
  Table table{.head = "Both moments of all parameters P",
              .columns = {"bytes", "first moment off by", "second off by"},
              .foot = "The errors are those of the tiny model that was trained here, averaged over all numbers."};
  if (!of_a.empty()) table.columns.emplace_back("first, B − A");
  table.rows.push_back(fp32_row(parameters, table.columns.size()));
  for (const MomentWay& way : first) {
    TableRow row = way_row(way, parameters);
    const double error = mean_error(*way.errors);
    row.cells.push_back(percent_text(error));
    row.cells.push_back(percent_text(error_of(second, way.dynamic, way.block)));
    if (!of_a.empty()) row.cells.push_back(change(error, error_of(of_a, way.dynamic, way.block)));
    table.rows.push_back(std::move(row));
  }
  figure.add(std::move(table));
}

}  // namespace

extern const Figure kMomentBytes;
constinit const Figure kMomentBytes{
    .id = "moment_bytes",
    .title = "Formula",
    .caption = "Bytes of AdamW's moments in fp32 and in 8 bits by closed form, next to the measured errors",
    .schema = kMomentBytesSchema,
    .add_panels = add_moment_bytes_panels,
};

}  // namespace headroom::lessons
