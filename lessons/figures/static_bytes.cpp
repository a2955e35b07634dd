// Memory that no batch size changes, by precision, at the loss and at the end of backward, with one sequence's
// activations, next to the card's memory.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "demos/llama/architecture.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/meaning.h"
#include "demos/record/text.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

using predict::KeptState;
using predict::Precision;

struct Scheme {
  std::string_view label, brief;
  Precision precision;
};
constexpr std::array<Scheme, 3> kSchemes{{{"mixed precision", "mixed", Precision::kBf16Mixed},
                                          {"fp32", "fp32", Precision::kFp32},
                                          {"pure bf16", "bf16", Precision::kBf16}}};
constexpr std::string_view kSequenceOf = "gpt2-xl";
constexpr std::array kStaticBytesSchema{
    experiments::number("parameters", "Parameters", {}, "P: number of trained parameters", 1e6, 1e12, 1.5e9),
    experiments::choice("state_of", "State of", "Optimizer, by the state that it keeps per parameter between steps",
                        predict::kChoicesOf<predict::kKeptStates>, "adamw"),
    whole_param("tokens", "Tokens",
                "Tokens of one sequence of GPT-2 XL; its activations, with stored scores, are in memory at the loss", 0,
                8192, 1024),
};

struct Stack {
  std::size_t scheme = 0;
  bool at_loss = false;
  predict::StaticMemory state;  // without gradients if at the loss
  record::Bytes activations = 0;

  record::Bytes sum() const { return state.sum() + activations; }
  std::string name() const { return fmt::format("{}, {}", kSchemes[scheme].brief, at_loss ? "loss" : "end"); }
};

struct StaticPart {
  const char* label;
  record::Category category;
  record::Bytes (*bytes)(const Stack& stack);
};
// Parts from the bottom of a stack.
constexpr std::array<StaticPart, 5> kStaticParts{
    {{"Weights", record::Category::kWeights, [](const Stack& stack) { return stack.state.weights; }},
     {"Master copy", record::Category::kOptimizerState, [](const Stack& stack) { return stack.state.master; }},
     {"Moments", record::Category::kOptimizerState, [](const Stack& stack) { return stack.state.moments; }},
     {"Gradients", record::Category::kGradients, [](const Stack& stack) { return stack.state.gradients; }},
     {"Activations of one sequence", record::Category::kActivations,
      [](const Stack& stack) { return stack.activations; }}}};

// Each scheme at the loss and at the end of backward.
std::vector<Stack> stacks_of(const record::Params& params) {
  const llama::Config& model = llama::find_architecture(kSequenceOf)->shape;
  const KeptState state = predict::meaning(params, "state_of", predict::kKeptStates);
  std::vector<Stack> stacks;
  for (std::size_t i = 0; i < kSchemes.size(); ++i) {
    const Precision precision = kSchemes[i].precision;
    const predict::StaticMemory all = predict::static_memory(params.integer("parameters"), precision, state);
    predict::StaticMemory without_gradients = all;
    without_gradients.gradients = 0;
    stacks.push_back(
        {i, true, without_gradients,
         llama::bytes_with_scores(model, 1, params.integer("tokens"), precision == Precision::kFp32 ? 4 : 2)});
    stacks.push_back({i, false, all});
  }
  return stacks;
}

std::string words_of(const Stack& stack, const ShownUnit& unit) {
  std::string words = stack.name() + ": ";
  for (const StaticPart& part : kStaticParts) {
    const record::Bytes bytes = part.bytes(stack);
    if (bytes > 0) words += fmt::format("{} {}, ", record::in_lower_case(part.label), short_bytes(bytes, unit));
  }
  return words + "together " + short_bytes(stack.sum(), unit);
}

// The axis's unit, with room for the card and all stacks.
ShownUnit unit_of(const std::vector<Stack>& stacks, record::Bytes card) {
  record::Bytes most = card;
  for (const Stack& each : stacks) most = std::max(most, each.sum());
  return byte_unit(static_cast<double>(most));
}

Chart chart_of(const std::vector<Stack>& stacks, const CardLimit& card) {
  const ShownUnit unit = unit_of(stacks, card.memory);
  Chart chart;
  chart.bars = true;
  chart.stacked = true;
  for (const StaticPart& part : kStaticParts) {
    ChartSeries series{.label = part.label, .category = part.category};
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const std::string of_stack = short_bytes(stacks[i].sum(), unit);
      series.points.push_back(exact_point(static_cast<double>(i), static_cast<double>(part.bytes(stacks[i])),
                                          words_of(stacks[i], unit), of_stack));
    }
    chart.series.push_back(std::move(series));
  }
  for (const Stack& stack : stacks) chart.categories.push_back(stack.name());
  chart.x = category_axis(stacks.size(), "at the loss, and at the end of backward");
  chart.y = {.unit = AxisUnit::kBytes, .shown = unit};
  chart.add_level(card_label(card, unit), static_cast<double>(card.memory), true);
  fit_y(chart);
  return chart;
}

Table sums_of(const std::vector<Stack>& stacks, const record::Params& params, record::Bytes card) {
  const auto parameters = static_cast<double>(params.integer("parameters"));
  const std::int64_t tokens = params.integer("tokens");
  const ShownUnit unit = unit_of(stacks, card);
  Table table{.head = "Per parameter and in total",
              .columns = {"per parameter", "end of backward", "at the loss", "of the card"}};
  for (std::size_t i = 0; i < stacks.size(); i += 2) {
    const Stack &loss = stacks[i], &end = stacks[i + 1];
    const auto most = static_cast<double>(std::max(loss.sum(), end.sum()));
    table.rows.push_back(
        {.name = std::string(kSchemes[loss.scheme].label),
         .cells = {fmt::format("{:.4g} B", static_cast<double>(end.sum()) / parameters), bytes_text(end.sum(), unit),
                   bytes_text(loss.sum(), unit), fmt::format("{:.0f} %", 100 * most / static_cast<double>(card))}});
  }
  table.foot = tokens > 0 ? fmt::format(
                                "At the loss no gradients exist yet, but the activations of one sequence of {} tokens "
                                "do. Logits and workspaces come on top.",
                                record::format_count(tokens))
                          : "Activations, logits and workspaces come on top.";
  return table;
}

void add_static_bytes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const CardLimit card = card_limit(input.view, record::Params());
  figure.head.provenance_line = fmt::format("P = {}, {}", record::format_count(params.integer("parameters")),
                                            record::label_of(kStaticBytesSchema[1], params.text("state_of")));
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  const std::vector<Stack> stacks = stacks_of(params);
  figure.add(chart_of(stacks, card));
  figure.add(sums_of(stacks, params, card.memory));
}

}  // namespace

extern const Figure kStaticBytes;
constinit const Figure kStaticBytes{
    .id = "static_bytes",
    .title = "Memory that no batch size changes",
    .caption =
        "Model state by precision at the loss and at the end of backward, with one sequence's activations, next to a "
        "card",
    .schema = kStaticBytesSchema,
    .basis = Basis::kParameters,
    .on_card = true,
    .add_panels = add_static_bytes_panels,
};

}  // namespace headroom::lessons
