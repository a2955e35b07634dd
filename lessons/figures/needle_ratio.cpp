// The fp32 logits that are alive at once beside the kept inputs of all layers, over the tokens of a batch: two straight
// lines, whose ratio decides whether the loss is the problem. The report's estimate with any model, vocabulary and number
// of copies. Arithmetic: it needs no run.
#include <array>

#include <fmt/format.h>

#include "demos/predict/needle.h"
#include "lessons/bench.h"
#include "lessons/figure.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::NeedleShape;

constexpr std::array<record::Choice, 5> kModels{{{"llama-3.2-1b", "Llama 3.2 1B"},
                                                 {"llama-3-8b", "Llama 3 8B"},
                                                 {"gpt2-xl", "GPT-2 XL"},
                                                 {"llama-2-7b", "Llama 2 7B"},
                                                 {"llama-3-70b", "Llama 3 70B"}}};
constexpr std::array<record::Choice, 5> kVocabularies{{{"own", "the model's own"},
                                                       {"32000", "32,000 (Llama 2)"},
                                                       {"50257", "50,257 (GPT-2)"},
                                                       {"128256", "128,256 (Llama 3)"},
                                                       {"256000", "256,000 (Gemma)"}}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "model",
                      .label = "Model",
                      .help = "Whose hidden size and layers are counted",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "llama-3.2-1b",
                      .choices = kModels},
    record::ParamSpec{.key = "vocabulary",
                      .label = "Vocabulary",
                      .help = "Words of the tokenizer, V",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "own",
                      .choices = kVocabularies},
    record::ParamSpec{
        .key = "copies",
        .label = "Copies",
        .help = "fp32 tensors of logits that are alive at once: three in the report's estimate, four measured",
        .kind = record::ParamKind::kInteger,
        .minimum = 1,
        .maximum = 5,
        .default_number = 3},
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
constexpr std::array<int, 7> kBatches{0, 1, 2, 4, 8, 16, 32};

NeedleShape shape_of(const record::Params& params) {
  NeedleShape shape = predict::kNeedleShapes.front();
  for (const NeedleShape& each : predict::kNeedleShapes)
    if (each.key == params.text("model")) shape = each;
  if (params.text("vocabulary") != "own") shape.vocab_size = std::stoll(std::string(params.text("vocabulary")));
  return shape;
}

ChartSeries line(std::string label, record::Category category, record::Bytes per_token, std::int64_t seq) {
  ChartSeries made{.label = std::move(label), .category = category, .points = {}};
  for (const int batch : kBatches) {
    const std::int64_t tokens = batch * seq;
    const auto bytes = static_cast<double>(per_token * tokens);
    made.points.push_back({.x = static_cast<double>(tokens),
                           .y = bytes,
                           .low = bytes,
                           .high = bytes,
                           .label = {},
                           .tip = fmt::format("{}, batch {}: {}", made.label, batch, short_bytes(per_token * tokens))});
  }
  return made;
}

Table ratios(const NeedleShape& shown, std::int64_t copies) {
  Table table{.head = "Logits over checkpoints", .columns = {"V", "H · L", "ratio"}, .rows = {}};
  const auto add = [&](const NeedleShape& shape, std::string name) {
    table.rows.push_back(
        {.name = std::move(name),
         .cells = {record::format_count(shape.vocab_size), record::format_count(shape.hidden_size * shape.num_layers),
                   fmt::format("{:.2f}", predict::needle_ratio(shape, copies))}});
  };
  for (const NeedleShape& shape : predict::kNeedleShapes)
    if (shape.key == shown.key && shape.vocab_size != shown.vocab_size)
      add(shown, std::string(shown.name) + ", other vocabulary");
  for (const NeedleShape& shape : predict::kNeedleShapes) add(shape, std::string(shape.name));
  table.foot = "The same at each batch size and sequence length: both are linear in the tokens.";
  return table;
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const NeedleShape shape = shape_of(params);
  const std::int64_t copies = params.integer("copies"), seq = params.integer("seq");
  figure.head.provenance_line =
      fmt::format("logits {}·4·V, checkpoints 2·H·L per token; V = {}, H = {}, L = {}", copies,
                  record::format_count(shape.vocab_size), record::format_count(shape.hidden_size), shape.num_layers);
  if (input.view.hidden) {
    figure.head.empty_reason = "This is the answer: it shows when the question is answered.";
    return;
  }
  Chart chart;
  chart.series = {line(fmt::format("Logits in fp32, {} times", copies), record::Category::kLogits,
                       predict::needle_bytes(shape, copies, 1), seq),
                  line("Checkpoints: one 16-bit input per layer", record::Category::kActivations,
                       predict::kept_inputs_bytes(shape, 1), seq)};
  chart.x = {.unit = AxisUnit::kNumber,
             .low = 0,
             .high = static_cast<double>(kBatches.back() * seq),
             .name = "tokens in a batch, B · T"};
  chart.y.unit = AxisUnit::kBytes;
  fit_y(chart);
  figure.panels.emplace_back(std::move(chart));
  figure.panels.emplace_back(ratios(shape, copies));
}

}  // namespace

extern const Figure kNeedleRatio;
constinit const Figure kNeedleRatio{
    .id = "needle_ratio",
    .title = "When the loss is the problem",
    .caption =
        "fp32 logits that are alive at once, and the kept inputs of all layers, over the tokens of a batch; and "
        "their ratio for five models",
    .schema = kSchema,
    .basis = Basis::kParameters,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
