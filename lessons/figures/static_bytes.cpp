// What training takes whatever the batch: weights, gradients, master copy and moments by precision, beside the
// card's memory. Arithmetic: it needs no run.
#include <array>

#include <fmt/format.h>

#include "demos/predict/step_bytes.h"
#include "lessons/bench.h"
#include "lessons/figure.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::KeptState;
using predict::Precision;

struct Scheme {
  std::string_view key, label;
  Precision precision;
};
constexpr std::array<Scheme, 3> kSchemes{{{"bf16_mixed", "mixed precision", Precision::kBf16Mixed},
                                          {"fp32", "fp32", Precision::kFp32},
                                          {"bf16", "pure bf16", Precision::kBf16}}};
constexpr std::array kStaticBytesSchema{
    record::ParamSpec{.key = "parameters",
                      .label = "Parameters",
                      .help = "Numbers that are trained, P",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 1e6,
                      .maximum = 1e12,
                      .default_number = 1.5e9,
                      .logarithmic = true},
    record::ParamSpec{.key = "optimizer",
                      .label = "Optimizer",
                      .help = "What it keeps for each parameter between steps",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "adamw",
                      .choices = predict::kChoicesOf<predict::kKeptStates>},
    record::ParamSpec{.key = "card",
                      .label = "Card",
                      .help = "Memory of the GPU; the line in the figure",
                      .kind = record::ParamKind::kBytes,
                      .minimum = 1.0 * record::kGiB,
                      .maximum = 1024.0 * record::kGiB,
                      .default_number = 24.0 * record::kGiB,
                      .logarithmic = true},
};

struct StaticPart {
  const char* label;
  record::Category category;
  record::Bytes predict::StaticMemory::*bytes;
};
// From the bottom of the stack.
constexpr std::array<StaticPart, 4> kStaticParts{
    {{"Weights", record::Category::kWeights, &predict::StaticMemory::weights},
     {"Gradients", record::Category::kGradients, &predict::StaticMemory::gradients},
     {"Master copy", record::Category::kOptimizerState, &predict::StaticMemory::master},
     {"Moments", record::Category::kOptimizerState, &predict::StaticMemory::moments}}};

KeptState state_of(const record::Params& params) {
  for (const auto& each : predict::kKeptStates)
    if (params.text("optimizer") == each.choice.key) return each.meaning;
  return KeptState::kAdamW;
}

// "weights 2.79 GiB, gradients …, together 22.35 GiB"
std::string words_of(const predict::StaticMemory& memory, const ShownUnit& unit) {
  const auto text = [&](record::Bytes bytes) { return short_bytes(bytes, unit); };
  return fmt::format("weights {}, gradients {}, master copy {}, moments {}, together {}", text(memory.weights),
                     text(memory.gradients), text(memory.master), text(memory.moments), text(memory.sum()));
}

using Memory = std::array<predict::StaticMemory, kSchemes.size()>;

// Of the card, or of what is more than it.
ShownUnit unit_of(const Memory& memory, record::Bytes card) {
  record::Bytes most = card;
  for (const predict::StaticMemory& each : memory) most = std::max(most, each.sum());
  return byte_unit(static_cast<double>(most));
}

Chart stacks(const Memory& memory, record::Bytes card) {
  const ShownUnit unit = unit_of(memory, card);
  Chart chart;
  chart.bars = true;
  chart.stacked = true;
  for (const StaticPart& part : kStaticParts) {
    ChartSeries series{.label = part.label, .category = part.category, .points = {}};
    for (std::size_t i = 0; i < kSchemes.size(); ++i) {
      const auto bytes = static_cast<double>(memory[i].*part.bytes);
      const std::string sum = short_bytes(memory[i].sum(), unit);
      series.points.push_back({.x = static_cast<double>(i),
                               .y = bytes,
                               .low = bytes,
                               .high = bytes,
                               .label = sum,  // of the stack
                               .tip = fmt::format("{}: {}", kSchemes[i].label, words_of(memory[i], unit))});
    }
    chart.series.push_back(std::move(series));
  }
  for (const Scheme& scheme : kSchemes) chart.categories.emplace_back(scheme.label);
  chart.x = {.unit = AxisUnit::kCategory, .low = -0.5, .high = kSchemes.size() - 0.5, .name = {}};
  chart.y = {.unit = AxisUnit::kBytes, .shown = unit};
  const auto y = static_cast<double>(card);
  chart.references.push_back(
      {.label = short_bytes(card, unit) + " card", .x = {chart.x.low, chart.x.high}, .y = {y, y}, .limit = true});
  fit_y(chart);
  return chart;
}

Table sums(const Memory& memory, std::int64_t parameters, record::Bytes card) {
  const ShownUnit unit = unit_of(memory, card);
  Table table{.head = "Per parameter and in all", .columns = {"per parameter", "in all", "of the card"}, .rows = {}};
  for (std::size_t i = 0; i < kSchemes.size(); ++i) {
    const auto sum = static_cast<double>(memory[i].sum());
    table.rows.push_back(
        {.name = std::string(kSchemes[i].label),
         .cells = {fmt::format("{:.4g} B", sum / static_cast<double>(parameters)), bytes_text(memory[i].sum(), unit),
                   fmt::format("{:.0f} %", 100 * sum / static_cast<double>(card))}});
  }
  table.foot = "Activations, logits and workspaces come on top.";
  return table;
}

void add_static_bytes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const std::int64_t parameters = params.integer("parameters");
  const record::Bytes card = params.integer("card");
  figure.head.provenance_line = fmt::format("P = {}, {}", record::format_count(parameters),
                                            record::label_of(kStaticBytesSchema[1], params.text("optimizer")));
  if (input.view.hidden) {
    figure.head.empty_reason = "The figure is the answer: lock yours, or skip.";
    return;
  }
  Memory memory;
  for (std::size_t i = 0; i < kSchemes.size(); ++i)
    memory[i] = predict::static_memory(parameters, kSchemes[i].precision, state_of(params));
  figure.panels.emplace_back(stacks(memory, card));
  figure.panels.emplace_back(sums(memory, parameters, card));
}

}  // namespace

extern const Figure kStaticBytes;
constinit const Figure kStaticBytes{
    .id = "static_bytes",
    .title = "Memory that no batch size changes",
    .caption = "Weights, gradients, master copy and moments by precision, beside the memory of a card",
    .schema = kStaticBytesSchema,
    .basis = Basis::kParameters,
    .add_panels = add_static_bytes_panels,
};

}  // namespace headroom::lessons
