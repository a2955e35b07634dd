// fp32 logits alive at once and kept inputs of all layers, against a batch's tokens: two lines, whose ratio decides
// whether the loss is the problem. This is the report's estimate for any vocabulary and number of copies.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/schemas.h"
#include "demos/llama/architecture.h"
#include "demos/predict/forms/needle.h"
#include "demos/predict/step_settings.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array<record::Choice, 5> kVocabularies{{{"own", "the model's own"},
                                                       {"32000", "32,000 (Llama 2)"},
                                                       {"50257", "50,257 (GPT-2)"},
                                                       {"128256", "128,256 (Llama 3)"},
                                                       {"256000", "256,000 (Gemma)"}}};
constexpr std::array kNeedleRatioSchema{
    experiments::choice("vocabulary", "With vocabulary", "V: entries of the vocabulary", kVocabularies, "own"),
    whole_param("copies", "Copies",
                "fp32 tensors of logits in memory at once: three in the report's estimate, four as measured", 1, 5, 3),
};
constexpr std::array<int, 7> kRatioBatches{0, 1, 2, 4, 8, 16, 32};

// The settings' model with the vocabulary of the figure's parameter.
struct ShownRatio {
  llama::Config shape;
  std::string model;      // as the settings show it
  bool published = true;  // the model was published with this vocabulary
};

ShownRatio shown_of(const record::Params& settings, const record::Params& params) {
  const llama::Config model = predict::step_settings(experiments::step_params(settings)).model;
  ShownRatio shown{.shape = model, .model = {}, .published = false};
  if (const record::ParamSpec* const spec = find_spec(settings.schema(), "model"))
    shown.model = record::label_of(*spec, settings.text("model"));
  if (params.text("vocabulary") != "own") {
    shown.shape.vocab_size = std::stoll(params.text("vocabulary"));
    if (shown.shape.vocab_size != model.vocab_size) shown.model += ", other vocabulary";
  }
  for (const llama::Architecture& each : llama::architectures())
    shown.published |= each.shape.id == shown.shape.id && each.shape.vocab_size == shown.shape.vocab_size;
  return shown;
}

ChartSeries line(std::string label, record::Category category, record::Bytes per_token, std::int64_t seq,
                 const ShownUnit& unit) {
  ChartSeries made{.label = std::move(label), .category = category};
  for (const int batch : kRatioBatches) {
    const std::int64_t tokens = batch * seq;
    made.points.push_back(
        exact_point(static_cast<double>(tokens), static_cast<double>(per_token * tokens),
                    fmt::format("{}, batch {}: {}", made.label, batch, short_bytes(per_token * tokens, unit))));
  }
  return made;
}

Table ratios(const ShownRatio& shown, std::int64_t copies) {
  Table table{.head = "Logits ÷ checkpoints", .columns = {"V", "H · L", "ratio"}};
  const auto add = [&](const llama::Config& shape, std::string name) {
    table.rows.push_back(
        {.name = std::move(name),
         .cells = {record::format_count(shape.vocab_size), record::format_count(shape.hidden_size * shape.num_layers),
                   fmt::format("{:.2f}", predict::needle_ratio(shape, copies))}});
  };
  if (!shown.published) add(shown.shape, shown.model);
  for (const llama::Architecture& each : llama::architectures()) add(each.shape, std::string(each.name));
  table.foot = "The ratio holds for any batch size and sequence length: both are linear in the tokens.";
  return table;
}

void add_needle_ratio_panels(FigureData& figure, const FigureInput& input) {
  const record::Params settings = input.settings ? *input.settings : record::Params(experiments::shape_schema().schema);
  const ShownRatio shown = shown_of(settings, *input.params);
  const llama::Config& shape = shown.shape;
  const std::int64_t copies = input.params->integer("copies"), seq = settings.integer("seq");
  figure.head.provenance_line =
      fmt::format("{}, V = {}, H = {}, L = {}", shown.model, record::format_count(shape.vocab_size),
                  record::format_count(shape.hidden_size), shape.num_layers);
  for (const char* key : {"model", "seq"})
    figure.head.provenance[fmt::format("setting.{}", key)] = settings.as_text(key);
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  Chart chart;
  const record::Bytes logits = predict::needle_bytes(shape, copies, 1), kept = predict::kept_inputs_bytes(shape, 1);
  const ShownUnit unit = byte_unit(static_cast<double>(std::max(logits, kept) * kRatioBatches.back() * seq));
  chart.series = {line(fmt::format("{} × logits in fp32", copies), record::Category::kLogits, logits, seq, unit),
                  line("Checkpoints: one 16-bit input per layer", record::Category::kActivations, kept, seq, unit)};
  chart.x = number_axis(0, 1.03 * static_cast<double>(kRatioBatches.back() * seq), "tokens in a batch, B · T");
  chart.y = {.unit = AxisUnit::kBytes, .shown = unit};
  fit_y(chart);
  figure.add(std::move(chart));
  figure.add(ratios(shown, copies));
}

}  // namespace

extern const Figure kNeedleRatio;
constinit const Figure kNeedleRatio{
    .id = "needle_ratio",
    .title = "When the loss is the problem",
    .caption =
        "fp32 logits in memory at once and the kept inputs of all layers over the tokens of a batch, and their ratio "
        "for five models",
    .schema = kNeedleRatioSchema,
    .basis = Basis::kFormula,
    .add_panels = add_needle_ratio_panels,
};

}  // namespace headroom::lessons
