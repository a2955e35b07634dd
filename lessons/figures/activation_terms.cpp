// The tensors that a layer keeps for its backward pass, by formula, predicted and measured, and their sums over all
// layers.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/record/text.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/kept_measured.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::KeptPart;
using predict::KeptTensor;
using record::Bytes;

constexpr std::array kShows{record::Choice{"tensors", "one layer, tensor by tensor"},
                            record::Choice{"parts", "all layers, by part"}};
constexpr std::array kActivationTermsSchema{
    experiments::choice("bars", "Bars", "The tensors that one layer keeps, or the parts of all layers with their sums",
                        kShows, "tensors"),
};

constexpr std::array kKeptParts{KeptPart::kMlp, KeptPart::kNorms, KeptPart::kAttention};

std::string part_name(KeptPart part) {
  if (part == KeptPart::kMlp) return "MLP";
  if (part == KeptPart::kNorms) return "Norms and residuals";
  return part == KeptPart::kAttention ? "Attention" : "Final norm, one number per row";
}

struct ShownTerm {
  predict::StepSettings step;
  std::vector<KeptTensor> tensors;
  std::optional<KeptMeasured> predicted, measured;

  std::int64_t layers() const { return step.model.num_layers; }
  // With checkpoints, this many layers have tensors in memory at once in the backward pass.
  std::int64_t layers_at_once() const { return step.layers_at_once(); }
  Bytes layer() const {
    Bytes sum = 0;
    for (const KeptTensor& tensor : tensors) sum += tensor.bytes;
    return sum;
  }
};

bool is_run(const FigureInput& input) { return input.run != nullptr && is_one_step(input.run->recording()); }

ShownTerm shown_of(const FigureInput& input, const record::Params& settings) {
  ShownTerm shown{.step = predict::step_settings(settings)};
  std::optional<predict::StepSettings> ran;
  if (is_run(input)) ran = predict::settings_of(input.run->recording().info(), experiments::training_step().schema);
  // A checkpoint's shape is known only from a run.
  if (ran && !shown.step.files.weights.empty() && ran->files.weights == shown.step.files.weights)
    shown.step.model = ran->model;
  shown.tensors = predict::kept_tensors(shown.step);
  const auto measured = [&](const record::Ledger& run) -> std::optional<KeptMeasured> {
    if (shown.step.keeps_layer_inputs()) return std::nullopt;
    return kept_measured(run, shown.tensors, shown.layers());
  };
  const bool fits = ran && predict::kept_tensors(*ran) == shown.tensors &&
                    predict::activation_bytes(*ran) == predict::activation_bytes(shown.step);
  if (fits && input.run->recording().info().source != record::Source::kPredicted) shown.measured = measured(*input.run);
  if (input.predicted != nullptr) shown.predicted = measured(*input.predicted);
  return shown;
}

std::string note_of(const ShownTerm& shown, std::size_t i, const ShownUnit& unit) {
  std::string note = shown.tensors[i].symbols() + " · B · T";
  const auto add = [&](const char* what, const std::optional<KeptMeasured>& of) {
    if (of) note += fmt::format(", {} {}", what, of->tensors[i] < 0 ? "none" : bytes_text(of->tensors[i], unit));
  };
  add("predicted", shown.measured ? std::nullopt : shown.predicted);
  add("measured", shown.measured);
  return note;
}

Bars tensors_of(const ShownTerm& shown) {
  Bytes most = 1;
  for (const KeptTensor& tensor : shown.tensors) most = std::max(most, tensor.bytes);
  const ShownUnit unit = byte_unit(static_cast<double>(most));
  Bars bars{.x = {.unit = AxisUnit::kBytes, .high = static_cast<double>(most), .shown = unit},
            .total_label = fmt::format("sum per layer {}, {} B per token", bytes_text(shown.layer(), unit),
                                       record::format_count(shown.layer() / shown.step.tokens())),
            .total = shown.layer()};
  for (std::size_t i = 0; i < shown.tensors.size(); ++i)
    bars.bars.push_back({.category = record::Category::kActivations,
                         .label = shown.tensors[i].name(),
                         .value = static_cast<double>(shown.tensors[i].bytes),
                         .value_text = bytes_text(shown.tensors[i].bytes, unit),
                         .note = note_of(shown, i, unit)});
  return bars;
}

// Table without the answer: names and formulas, no bytes.
Table symbols_of(const ShownTerm& shown) {
  Table table{.head = "Kept per layer for backward, in bytes per token"};
  std::string last;
  for (const KeptTensor& tensor : shown.tensors) {
    const std::string group = tensor.of.empty() ? part_name(tensor.part) : std::string(tensor.of);
    const std::string what = tensor.of.empty() ? record::in_lower_case(tensor.what) : std::string(tensor.what);
    const bool first = std::exchange(last, group) != group;
    if (first) table.rows.push_back({.name = group + ": "});
    table.rows.back().name += (first ? "" : ", ") + what;
    table.rows.back().note += (first ? "" : " + ") + tensor.symbols();
  }
  return table;
}

// Bytes of all layers by part, from closed form, prediction or run.
struct Column {
  std::string head;
  std::array<Bytes, kKeptParts.size()> parts{};
  Bytes all = 0;

  Bytes rest() const { return std::accumulate(parts.begin(), parts.end(), all, std::minus<>()); }
};

Column column_of(std::string head, const ShownTerm& shown, const std::vector<Bytes>& tensors, Bytes all) {
  Column column{std::move(head), {}, all};
  for (std::size_t p = 0; p < kKeptParts.size(); ++p)
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (shown.tensors[i].part == kKeptParts[p]) column.parts[p] += tensors[i];
  return column;
}

std::vector<Column> columns_of(const ShownTerm& shown) {
  std::vector<Bytes> tensors;
  for (const KeptTensor& tensor : shown.tensors) tensors.push_back(shown.layers_at_once() * tensor.bytes);
  std::vector<Column> columns{column_of("formula", shown, tensors, predict::activation_bytes(shown.step))};
  if (shown.predicted)
    columns.push_back(column_of("predicted", shown, shown.predicted->all, shown.predicted->activations));
  if (shown.measured) columns.push_back(column_of("measured", shown, shown.measured->all, shown.measured->activations));
  return columns;
}

// MiB if readable, because parts are compared with a layer's tensors.
ShownUnit unit_of_parts(Bytes all) {
  return byte_unit(all < 64 * record::kGiB ? static_cast<double>(all) / 16 : static_cast<double>(all));
}

// One bar per part: its sum over all layers or, with checkpoints, the most of it alive at once.
Bars parts_of(const ShownTerm& shown) {
  const std::vector<Column> columns = columns_of(shown);
  const ShownUnit unit = unit_of_parts(columns.front().all);
  const bool again = shown.step.keeps_layer_inputs();
  Bars bars{.x = {.unit = AxisUnit::kBytes, .high = 1, .shown = unit},
            .total_label = again ? fmt::format("inputs of layers, and recomputed at a time: {} of {}",
                                               shown.layers_at_once(), shown.layers())
                                 : fmt::format("sum of {} layers and the final norm", shown.layers()),
            .total = columns.front().all};
  for (const Column& column : columns)
    bars.total_label += fmt::format(", {} {}", column.head, bytes_text(column.all, unit, 1));
  for (std::size_t p = 0; p <= kKeptParts.size(); ++p) {
    const auto of = [&](const Column& column) { return p < kKeptParts.size() ? column.parts[p] : column.rest(); };
    const auto value = static_cast<double>(of(columns.front()));
    const std::string rest = again ? "Kept inputs, one number per row" : part_name(KeptPart::kRows);
    Bar bar{.category = record::Category::kActivations,
            .label = p < kKeptParts.size() ? part_name(kKeptParts[p]) : rest,
            .value = value,
            .value_text = bytes_text(of(columns.front()), unit, 1),
            .note = fmt::format("{:.0f} %", 100 * value / static_cast<double>(std::max<Bytes>(bars.total, 1)))};
    for (const Column& column : std::span(columns).subspan(1))
      bar.note += fmt::format(", {} {}", column.head, bytes_text(of(column), unit, 1));
    bars.x.high = std::max(bars.x.high, value);
    bars.bars.push_back(std::move(bar));
  }
  return bars;
}

void say_whose(FigureHead& head, const FigureInput& input, const ShownTerm& shown, const record::Params& settings) {
  head.provenance_line = settings_line(run_with(settings));
  if (shown.measured) set_run(head, input.run->recording(), *input.params);
  add_settings(head, settings);
}

void add_activation_terms_panels(FigureData& figure, const FigureInput& input) {
  figure.head.provenance = {{"formulas", "closed form"}};
  if (input.settings == nullptr && !is_run(input))
    return figure.leave_empty("There are no settings to compute the numbers from.");
  const record::Params settings =
      input.settings ? experiments::step_params(*input.settings) : step_params_of(input.run->recording().info());
  const ShownTerm shown = shown_of(input, settings);
  say_whose(figure.head, input, shown, settings);
  if (input.view.hidden) return figure.add(symbols_of(shown));
  if (input.params->text("bars") == "tensors") return figure.add(tensors_of(shown));
  figure.add(parts_of(shown));
}

}  // namespace

extern const Figure kActivationTerms;
constinit const Figure kActivationTerms{
    .id = "activation_terms",
    .title = "What a layer keeps",
    .caption = "The tensors that one layer keeps for its backward, with their formulas, and the parts of all layers",
    .schema = kActivationTermsSchema,
    .basis = Basis::kSettings,
    .add_panels = add_activation_terms_panels,
};

}  // namespace headroom::lessons
