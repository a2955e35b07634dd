// Weights, gradients and optimizer state of one rank at each stage of ZeRO, at the loss and at the end of backward,
// next to the card's memory, and the bytes that a rank sends per step. Rajbhandari et al. 2020, arXiv:1910.02054,
// figure 1.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/meaning.h"
#include "demos/predict/parallel.h"
#include "demos/record/text.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

using predict::StaticMemory;
using predict::Zero;

constexpr double kLlama1B = 1'235'814'400;
constexpr std::array kZeroBarsSchema{
    experiments::number("parameters", "Parameters", {}, "P: number of trained parameters", 1e6, 1e12, kLlama1B),
    experiments::choice("precision", "Precision", "Number formats, which give the bytes per parameter",
                        predict::kChoicesOf<predict::kPrecisions>, "bf16_mixed"),
    experiments::choice("optimizer", "Optimizer", "Optimizer, by the state that it keeps per parameter between steps",
                        predict::kChoicesOf<predict::kKeptStates>, "adamw"),
    experiments::number("ranks", "GPUs", {}, "N: GPUs that train together, each on sequences of its own", 1, 1024, 4),
    experiments::unset("all GPUs", experiments::number("zero_group", "Shared by", {},
                                                       "GPUs that share one copy of the states; it divides the number "
                                                       "of GPUs; 0: all",
                                                       0, 1024, 0)),
    experiments::number("accumulate", "Micro-batches", "per step",
                        "Micro-batches whose gradients accumulate before the optimizer step", 1, 256, 1),
};

// A rank at one stage of ZeRO.
struct Stage {
  predict::ParallelSettings parallel;
  StaticMemory at_loss, at_end;  // of the last micro-batch
  record::Bytes sent = 0;        // per step

  std::string name() const { return std::string(predict::kZeros.at(index()).choice.key); }
  std::size_t index() const { return static_cast<std::size_t>(parallel.zero); }
};

struct SharedPart {
  const char* label;
  record::Category category;
  record::Bytes StaticMemory::*bytes;
};
// Parts from the bottom of a stack.
constexpr std::array<SharedPart, 4> kSharedParts{
    {{"Weights", record::Category::kWeights, &StaticMemory::weights},
     {"Master copy", record::Category::kOptimizerState, &StaticMemory::master},
     {"Moments", record::Category::kOptimizerState, &StaticMemory::moments},
     {"Gradients", record::Category::kGradients, &StaticMemory::gradients}}};

StaticMemory whole_of(const record::Params& params) {
  return predict::static_memory(params.integer("parameters"),
                                predict::meaning(params, "precision", predict::kPrecisions),
                                predict::meaning(params, "optimizer", predict::kKeptStates));
}

predict::ParallelSettings parallel_of(const record::Params& params, Zero zero) {
  return {.ranks = params.integer("ranks"), .zero = zero, .zero_group = params.integer("zero_group")};
}

// At the loss of a step's only micro-batch no gradients exist. Later micro-batches add to existing gradients.
std::vector<Stage> stages_of(const record::Params& params) {
  const StaticMemory whole = whole_of(params);
  const std::int64_t micro_batches = params.integer("accumulate");
  std::vector<Stage> stages;
  for (const auto& each : predict::kZeros) {
    const predict::ParallelSettings parallel = parallel_of(params, each.meaning);
    const StaticMemory share = predict::share_of(whole, parallel);
    Stage stage{.parallel = parallel, .at_loss = share, .at_end = share};
    if (micro_batches == 1) stage.at_loss.gradients = 0;
    stage.sent = predict::sent_per_step(whole, parallel, micro_batches);
    stages.push_back(stage);
  }
  return stages;
}

std::string words_of(const Stage& stage, const StaticMemory& held, const std::string& when, const ShownUnit& unit) {
  std::string words = fmt::format("ZeRO {}, {}: ", stage.name(), record::in_lower_case(when));
  for (const SharedPart& part : kSharedParts)
    if (const record::Bytes bytes = held.*part.bytes; bytes > 0)
      words += fmt::format("{} {}, ", record::in_lower_case(part.label), short_bytes(bytes, unit));
  return words + "together " + short_bytes(held.sum(), unit);
}

Chart chart_at(const std::vector<Stage>& stages, StaticMemory Stage::*moment, const std::string& when, const Axis& y) {
  const ShownUnit unit = unit_of(y);
  Chart chart{.title = when, .y = y, .bars = true, .stacked = true};
  for (const SharedPart& part : kSharedParts) {
    ChartSeries series{.label = part.label, .category = part.category};
    for (const Stage& stage : stages) {
      const StaticMemory& held = stage.*moment;
      series.points.push_back(exact_point(static_cast<double>(stage.index()), static_cast<double>(held.*part.bytes),
                                          words_of(stage, held, when, unit), short_bytes(held.sum(), unit)));
    }
    chart.series.push_back(std::move(series));
  }
  for (const Stage& stage : stages) chart.categories.push_back(stage.name());
  chart.x = category_axis(stages.size(), "stage of ZeRO");
  return chart;
}

// "2 + 2 + 12/4 = 7 B per parameter"
std::string formula_of(const Stage& stage, const StaticMemory& whole, std::int64_t parameters) {
  const auto p = static_cast<double>(parameters);
  const auto part = [&](record::Bytes bytes, Zero what) {
    const std::string each = fmt::format("{:.4g}", static_cast<double>(bytes) / p);
    return stage.parallel.shares(what) ? fmt::format("{}/{}", each, stage.parallel.shards()) : each;
  };
  return fmt::format("{} + {} + {} = {:.4g} B per parameter", part(whole.weights, Zero::kWeights),
                     part(whole.gradients, Zero::kGradients), part(whole.master + whole.moments, Zero::kOptimizer),
                     static_cast<double>(stage.at_end.sum()) / p);
}

// "5.18 GiB, 1.5 ×"
std::string sent_text(record::Bytes sent, record::Bytes by_data_parallelism, const ShownUnit& unit) {
  if (sent == 0) return "nothing";
  return fmt::format("{}, {:.3g} ×", bytes_text(sent, unit),
                     static_cast<double>(sent) / static_cast<double>(by_data_parallelism));
}

Table sums_of(const std::vector<Stage>& stages, const record::Params& params, const ShownUnit& unit) {
  constexpr ShownUnit kDecimal{"GB", 1e9};
  const StaticMemory whole = whole_of(params);
  Table table{.head = "Per GPU", .columns = {"at the loss", "end of backward", "the same in GB", "sent per step"}};
  for (const Stage& stage : stages) {
    const auto end = static_cast<double>(stage.at_end.sum());
    table.rows.push_back({.name = "ZeRO " + std::string(predict::kZeros.at(stage.index()).choice.label),
                          .note = formula_of(stage, whole, params.integer("parameters")),
                          .cells = {bytes_text(stage.at_loss.sum(), unit), bytes_text(stage.at_end.sum(), unit),
                                    amount_text(end, kDecimal), sent_text(stage.sent, stages.front().sent, unit)}});
  }
  table.foot = "By formula. Activations stay whole; gathered layers, buffers and NCCL's memory come on top.";
  return table;
}

std::string line_of(const record::Params& params) {
  std::string line = fmt::format("P = {}", record::format_count(params.integer("parameters")));
  for (const std::size_t i : {1, 2})
    line += fmt::format(", {}", record::label_of(kZeroBarsSchema.at(i), params.text(kZeroBarsSchema.at(i).key)));
  line += fmt::format(", N = {}", params.integer("ranks"));
  if (const std::int64_t group = params.integer("zero_group"); group > 0) line += fmt::format(", shared by {}", group);
  if (const std::int64_t m = params.integer("accumulate"); m > 1) line += fmt::format(", {} micro-batches", m);
  return line;
}

void add_zero_bars_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  figure.head.provenance_line = line_of(params);
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  if (const auto divides = predict::check(parallel_of(params, Zero::kWeights)); !divides)
    return figure.leave_empty(divides.error().message);
  const std::vector<Stage> stages = stages_of(params);
  const CardLimit card = card_limit(input.view, record::Params());
  const ShownUnit unit = byte_unit(static_cast<double>(std::max(card.memory, whole_of(params).sum())));
  const std::int64_t micro_batches = params.integer("accumulate");
  const std::string loss =
      micro_batches == 1 ? "At the loss" : fmt::format("At the loss of micro-batch {}", micro_batches);
  Axis y{.unit = AxisUnit::kBytes, .shown = unit};
  Chart end = chart_at(stages, &Stage::at_end, "At the end of backward", y);
  end.add_level(card_label(card, unit), static_cast<double>(card.memory), true);
  fit_y(end);
  Chart at_loss = chart_at(stages, &Stage::at_loss, loss, end.y);
  at_loss.references = end.references;
  figure.add(std::move(at_loss));
  figure.add(std::move(end));
  figure.add(sums_of(stages, params, unit));
}

}  // namespace

extern const Figure kZeroBars;
constinit const Figure kZeroBars{
    .id = "zero_bars",
    .title = "Model state per GPU by stage of ZeRO",
    .caption =
        "Weights, gradients and optimizer state of one GPU without ZeRO and at its three stages, at the loss and at "
        "the end of backward, next to a card, and the bytes that a GPU sends per step",
    .schema = kZeroBarsSchema,
    .basis = Basis::kParameters,
    .on_card = true,
    .add_panels = add_zero_bars_panels,
};

}  // namespace headroom::lessons
