// Bytes and formats of published configurations of DeepSpeed and FSDP on a GPU and on the host, and the effect of each
// line. The files in assets/configs are read as a user's file is.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs_text.h"
#include "demos/configs/config.h"
#include "demos/configs/formats.h"
#include "demos/predict/meaning.h"
#include "demos/record/text.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

using configs::Config;
using configs::Format;
using configs::Held;
using predict::StaticMemory;

struct Example {
  record::Choice choice;
  std::string_view file, text;
};
constexpr std::array<Example, 6> kExamples{{
    {{"gpt2_xl_zero3", "GPT-2 XL, printed"}, "gpt2_xl_zero3.json", kGpt2XlZero3Config},
    {{"gpt2_xl_zero3_param", "GPT-2 XL, corrected"}, "gpt2_xl_zero3_param.json", kGpt2XlZero3ParamConfig},
    {{"blenderbot_zero2", "Blenderbot, ZeRO-2"}, "blenderbot_zero2.json", kBlenderbotZero2Config},
    {{"deepspeed_bf16", "DeepSpeed, bf16"}, "deepspeed_bf16.json", kDeepspeedBf16Config},
    {{"fsdp_mixed", "FSDP, mixed"}, "fsdp_mixed.yaml", kFsdpMixedConfig},
    {{"fsdp_bf16", "FSDP, bf16 alone"}, "fsdp_bf16.yaml", kFsdpBf16Config},
}};
constexpr std::array kExampleChoices = [] {
  std::array<record::Choice, kExamples.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = kExamples[i].choice;
  return choices;
}();
constexpr std::array kLoadedFormats{predict::Meant<Format>{{"bf16", "bf16"}, Format::kBf16},
                                    predict::Meant<Format>{{"fp32", "fp32"}, Format::kFp32}};
constexpr std::array kAccelerates{record::Choice{"0.30", "0.30 or newer"}, record::Choice{"older", "before 0.30"}};

constexpr std::array kConfigTables{record::Choice{"places", "formats by place"},
                                   record::Choice{"lines", "lines of the file"}};

constexpr std::array kConfigBytesSchema{
    experiments::choice("config", "Configuration", "Published example, read as `headroom plan --config` reads a file",
                        kExampleChoices),
    experiments::choice("table", "Table", "What is listed: number formats, or what each line of the file is worth",
                        kConfigTables),
    experiments::number("parameters", "Parameters", {}, "P: number of trained parameters", 1e6, 1e12, 1.5e9),
    experiments::unset("as in the file", experiments::number("gpus", "Launched on", "GPUs",
                                                             "N: GPUs that train together; 0: as in the file, else "
                                                             "one",
                                                             0, 1024, 0)),
    experiments::choice("loaded", "Loaded in", "Number format in which the script loads the weights",
                        predict::kChoicesOf<kLoadedFormats>),
    experiments::choice("accelerate", "Accelerate",
                        "Version; since 0.30 it converts FSDP's weights to fp32 in mixed precision", kAccelerates),
};

// One configuration with all that the parameters decide.
struct Shown {
  configs::Json document;
  std::string file;
  Config config;
  configs::Loading loading;
  std::int64_t parameters = 0, ranks = 1;
  Held held;
};

const Example& example_of(const record::Params& params) {
  const auto found =
      std::ranges::find(kExamples, params.text("config"), [](const Example& example) { return example.choice.key; });
  if (found == kExamples.end()) throw std::logic_error("config=" + params.text("config"));
  return *found;
}

std::int64_t ranks_of(const Config& config, const record::Params& params) {
  const std::int64_t asked = params.integer("gpus");
  return asked > 0 ? asked : config.ranks.value_or(1);
}

// Examples are ours, so an unreadable one is a bug; the figure without one of its lines may be refused.
template <class Value>
Value known(record::Result<Value> result) {
  if (!result) throw std::logic_error(result.error().message);
  return std::move(result).value();
}

Shown shown_of(const record::Params& params) {
  const Example& example = example_of(params);
  Shown shown{.document = known(configs::parse_document(example.text, std::string(example.file))),
              .file = std::string(example.file),
              .config = {},
              .loading = {.format = predict::meaning(params, "loaded", kLoadedFormats),
                          .upcasts = params.text("accelerate") == kAccelerates.front().key},
              .parameters = params.integer("parameters"),
              .held = {}};
  shown.config = known(configs::meaning_of(shown.document, shown.file));
  shown.ranks = ranks_of(shown.config, params);
  shown.held = known(configs::held_by_rank(shown.config, shown.loading, shown.parameters, shown.ranks));
  return shown;
}

struct HeldPart {
  const char* label;
  record::Category category;
  record::Bytes StaticMemory::*bytes;
};
// Parts from the bottom of a stack.
constexpr std::array<HeldPart, 4> kHeldParts{{{"Weights", record::Category::kWeights, &StaticMemory::weights},
                                              {"Gradients", record::Category::kGradients, &StaticMemory::gradients},
                                              {"Master copy", record::Category::kOptimizerState, &StaticMemory::master},
                                              {"Moments", record::Category::kOptimizerState, &StaticMemory::moments}}};

constexpr std::array<const char*, 2> kPlaceNames{"GPU", "host"};

std::string stack_words(const char* place, const StaticMemory& memory, const ShownUnit& unit) {
  std::string words = fmt::format("{}: ", place);
  for (const HeldPart& part : kHeldParts)
    if (const record::Bytes bytes = memory.*part.bytes; bytes > 0)
      words += fmt::format("{} {}, ", record::in_lower_case(part.label), short_bytes(bytes, unit));
  return words + "together " + short_bytes(memory.sum(), unit);
}

Chart chart_of(const Held& held, const CardLimit& card) {
  const record::Bytes most = std::max({card.memory, held.device.sum(), held.elsewhere.sum()});
  const ShownUnit unit = byte_unit(static_cast<double>(most));
  Chart chart{.title = "By place, at the end of backward",
              .y = {.unit = AxisUnit::kBytes, .shown = unit},
              .bars = true,
              .stacked = true};
  const std::array<const StaticMemory*, 2> places{&held.device, &held.elsewhere};
  for (const HeldPart& part : kHeldParts) {
    ChartSeries series{.label = part.label, .category = part.category};
    for (std::size_t i = 0; i < places.size(); ++i)
      series.points.push_back(exact_point(static_cast<double>(i), static_cast<double>(places[i]->*part.bytes),
                                          stack_words(kPlaceNames[i], *places[i], unit),
                                          short_bytes(places[i]->sum(), unit)));
    chart.series.push_back(std::move(series));
  }
  chart.categories.assign(kPlaceNames.begin(), kPlaceNames.end());
  chart.x = category_axis(places.size());
  chart.add_level(card_label(card, unit), static_cast<double>(card.memory), true);
  fit_y(chart);
  return chart;
}

// "as loaded", "local preparation": the columns of Accelerate's guide.
Table formats_of(const Shown& shown, const ShownUnit& unit) {
  const configs::Places places = configs::places_of(shown.config, shown.loading);
  const StaticMemory each = configs::bytes_per_parameter(shown.config, shown.loading);
  const bool deepspeed = shown.config.framework == configs::Framework::kDeepSpeed;
  Table table{.head = "Formats by place", .columns = {"format", "per parameter", "GPU", "host"}};
  const auto add = [&](const char* name, const char* note, std::string format, record::Bytes bytes,
                       record::Bytes StaticMemory::*part) {
    TableRow row{.name = name, .note = note, .cells = {std::move(format), fmt::format("{} B", bytes), "", ""}};
    if (part != nullptr) row.cells[2] = short_bytes(shown.held.device.*part, unit);
    if (part != nullptr) row.cells[3] = short_bytes(shown.held.elsewhere.*part, unit);
    table.rows.push_back(std::move(row));
  };
  const auto name = [](Format format) { return std::string(label_of(format)); };
  add("As loaded", "then converted, not kept", name(places.loaded), bytes_of(places.loaded), nullptr);
  add("Weights", deepspeed ? "training" : "local preparation", name(deepspeed ? places.trained : places.prepared),
      each.weights, &StaticMemory::weights);
  if (!deepspeed && places.trained != places.prepared)
    add("Gathered weights", "training: of the layers that run", name(places.trained), bytes_of(places.trained),
        nullptr);
  add("Gradients", "", name(each.gradients == 4 ? Format::kFp32 : places.trained), each.gradients,
      &StaticMemory::gradients);
  if (each.master > 0)
    add("Master copy", "local preparation", name(places.prepared), each.master, &StaticMemory::master);
  add("Moments", "local optimizer", name(places.optimizer), each.moments, &StaticMemory::moments);
  table.rows.push_back({.name = "Together",
                        .note = "before sharding, then per GPU",
                        .cells = {"", fmt::format("{} B", each.sum()), short_bytes(shown.held.device.sum(), unit),
                                  short_bytes(shown.held.elsewhere.sum(), unit)}});
  const auto bytes = [&](record::Bytes sent) { return sent == 0 ? std::string("nothing") : short_bytes(sent, unit); };
  table.foot = fmt::format("By formula, per step: a GPU sends {} to other GPUs, {} to the host, and reads {} from it.",
                           bytes(shown.held.sent), bytes(shown.held.to_host), bytes(shown.held.from_host));
  return table;
}

// The change if one of the file's keys is removed.
struct WithoutKey {
  record::Bytes device = 0, sent = 0;  // more than with it
  std::string refusal;
};
WithoutKey without_key(const Shown& shown, const configs::Key& key, const record::Params& params) {
  const auto config = configs::meaning_of(configs::without(shown.document, key.path), shown.file);
  if (!config) return {.refusal = config.error().message};
  const auto held =
      configs::held_by_rank(config.value(), shown.loading, shown.parameters, ranks_of(config.value(), params));
  if (!held) return {.refusal = held.error().message};
  return {.device = held.value().device.sum() - shown.held.device.sum(), .sent = held.value().sent - shown.held.sent};
}

Table lines_of(const Shown& shown, const record::Params& params, const ShownUnit& unit) {
  Table table{.head = shown.file, .columns = {"here", "GPU without it", "sends without it"}};
  int others = 0;
  for (const configs::Key& key : shown.config.keys) {
    const bool matters =
        (key.fate == configs::Fate::kRead && configs::decides_bytes(key.setting)) || key.path == "mixed_precision";
    if (!matters) {
      ++others;
      continue;
    }
    const WithoutKey without = without_key(shown, key, params);
    const configs::Setting* const setting = shown.config.find(key.setting);
    const auto change = [&](record::Bytes bytes) {
      return without.refusal.empty() ? change_text(bytes, unit) : std::string("refused");
    };
    table.rows.push_back(
        {.name = fmt::format("{}: {}", key.path, key.value),
         .note = key.words,
         .cells = {setting == nullptr ? "" : setting->text(), change(without.device), change(without.sent)},
         .tip = without.refusal});
  }
  table.foot =
      fmt::format("{} more lines change neither states nor traffic; `headroom plan --config` lists them.", others);
  return table;
}

std::string line_of(const Shown& shown, const record::Params& params) {
  std::string line = fmt::format("{}, P = {}, N = {}", example_of(params).choice.label,
                                 record::format_count(shown.parameters), shown.ranks);
  const auto shown_label = [&](std::string_view key) {
    return record::label_of(*record::find_spec(kConfigBytesSchema, key), params.text(key));
  };
  line += fmt::format(", loaded in {}, Accelerate {}", shown_label("loaded"), shown_label("accelerate"));
  return line;
}

void add_config_bytes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const Shown shown = shown_of(params);
  figure.head.provenance_line = line_of(shown, params);
  if (input.view.hidden) return figure.leave_empty(kIsAnswer);
  const CardLimit card = card_limit(input.view, record::Params());
  Chart chart = chart_of(shown.held, card);
  const ShownUnit unit = unit_of(chart.y);
  figure.add(std::move(chart));
  figure.add(params.text("table") == "lines" ? lines_of(shown, params, unit) : formats_of(shown, unit));
}

}  // namespace

extern const Figure kConfigBytes;
constinit const Figure kConfigBytes{
    .id = "config_bytes",
    .title = "What a configuration holds, and where",
    .caption =
        "Weights, gradients and optimizer state that a published configuration of DeepSpeed or FSDP puts on a GPU and "
        "on the host, their number formats, and what each line of the file is worth",
    .schema = kConfigBytesSchema,
    .basis = Basis::kParameters,
    .on_card = true,
    .add_panels = add_config_bytes_panels,
};

}  // namespace headroom::lessons
