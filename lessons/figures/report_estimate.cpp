// The report's estimate of what fills the card: the kept inputs of all layers beside three copies of the fp32 logits.
// Arithmetic: it needs no run.
#include <array>

#include <fmt/format.h>

#include "demos/llama/config.h"
#include "lessons/bench.h"
#include "lessons/published.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kReportEstimate;

namespace {

constexpr std::array<record::Choice, 3> kModels{
    {{"llama-3.2-1b", "Llama 3.2 1B"}, {"llama-3.2-3b", "Llama 3.2 3B"}, {"llama-3-8b", "Llama 3 8B"}}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "model",
                      .label = "Model",
                      .help = "Whose width, layers and vocabulary are counted",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "llama-3.2-1b",
                      .choices = kModels},
    record::ParamSpec{.key = "seq",
                      .label = "Sequence",
                      .unit = "tokens",
                      .help = "Tokens in a sequence",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 8,
                      .maximum = 131072,
                      .default_number = 1024,
                      .logarithmic = true},
};
constexpr std::array<int, 6> kBatches{1, 2, 4, 8, 16, 32};

ChartSeries series(std::string label, record::Category category, double bytes_per_sequence) {
  ChartSeries made{.label = std::move(label), .category = category, .points = {}};
  for (const int batch : kBatches) {
    const double bytes = bytes_per_sequence * batch;
    const std::string text = short_bytes(static_cast<record::Bytes>(bytes));
    made.points.push_back({.x = static_cast<double>(batch),
                           .y = bytes,
                           .low = bytes,
                           .high = bytes,
                           .tip = fmt::format("{}, batch {}: {}", made.label, batch, text)});
  }
  return made;
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const llama::Config& shape = *llama::find_config(params.text("model"));
  const auto seq = static_cast<double>(params.integer("seq"));
  figure.head.provenance_line = fmt::format("checkpoints B·T·H·2·L, logits 3·B·T·V·4, T = {}, H = {}, L = {}, V = {}",
                                            record::format_count(params.integer("seq")), shape.hidden_size,
                                            shape.num_layers, record::format_count(shape.vocab_size));

  Chart chart;
  chart.series = {series("Checkpoints: one fp16 input per layer", record::Category::kActivations,
                         seq * static_cast<double>(shape.hidden_size * 2 * shape.num_layers)),
                  series("Logits in fp32, three times", record::Category::kLogits,
                         3 * seq * static_cast<double>(shape.vocab_size) * 4)};
  chart.x = {.unit = AxisUnit::kNumber, .low = 0, .high = 1.03 * kBatches.back(), .name = "batch B"};
  chart.y.unit = AxisUnit::kBytes;
  fit_y(chart);
  figure.panels.emplace_back(std::move(chart));
}

}  // namespace

constinit const Figure kReportEstimate{
    .id = "report_estimate",
    .title = "Checkpoints beside logits",
    .caption = "The report's estimate: kept inputs of all layers, and three copies of the fp32 logits, over the batch",
    .schema = kSchema,
    .basis = Basis::kParameters,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
