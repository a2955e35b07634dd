// Times of an offloaded step's bytes on the measured links, with a model's numbers.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/llama/config.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"
#include "lessons/theory/formulas.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

constexpr std::array kOffloadTimesSchema{experiments::choice(
    "model", "Model", "Model with the P parameters, 2 bytes each on the device", kFormulaModels, "llama-3.2-1b")};

// kRest: the embedding and the final norm, which stay on the device.
enum class LoadPart : std::uint8_t { kAll, kLayers, kRest };

std::int64_t parameters_of(LoadPart part, const llama::Config& model) {
  const std::int64_t all = llama::num_parameters(model), layers = model.num_layers * predict::layer_parameters(model);
  return part == LoadPart::kAll ? all : part == LoadPart::kLayers ? layers : all - layers;
}

// Bytes per parameter that cross a link in one step.
struct Load {
  std::string_view name, variant, link;
  std::int64_t each;
  std::string_view sum;
  LoadPart part = LoadPart::kAll;
};
constexpr std::array<Load, 6> kLoads{
    {{"Weights of the layers, for forward and for backward", "to_device", "host to GPU", 4, "(2 · 2)",
      LoadPart::kLayers},
     {"Embedding and final norm, updated", "to_device", "host to GPU", 2, "2", LoadPart::kRest},
     {"Gradients", "to_host", "GPU to host", 2, "2"},
     {"AdamW on the CPU: masters, moments, gradients, weights", "adamw", "AdamW, CPU", 28, "(3 · 8 + 2 + 2)"},
     {"Masters and moments, if a file keeps them", "file_read", "file to host", 12, "(3 · 4)"},
     {"and back", "file_write", "host to file", 12, "(3 · 4)"}}};

record::Bytes bytes_of(const Load& load, const llama::Config& model) {
  return load.each * parameters_of(load.part, model);
}

// Time in ns; negative if the link was not measured.
double time_of(const Load& load, const llama::Config& model, const record::Ledger& run) {
  const double rate = link_rate(run.recording(), load.variant);
  return rate > 0 ? static_cast<double>(bytes_of(load, model)) / rate * 1e9 : -1;
}

// Each column has the unit of its largest value.
struct ColumnUnits {
  ShownUnit bytes, rate, time;

  std::string rate_text(double value) const { return value > 0 ? amount_text(value, rate) : "–"; }
  std::string time_text(double value) const { return value < 0 ? "–" : amount_text(value, time); }
};

ColumnUnits units_of(const llama::Config& model, const record::Ledger& run) {
  double bytes = 0, rate = 0, time = 0;
  for (const Load& load : kLoads) {
    bytes = std::max(bytes, static_cast<double>(bytes_of(load, model)));
    rate = std::max(rate, link_rate(run.recording(), load.variant));
    time = std::max(time, time_of(load, model, run));
  }
  return {byte_unit(bytes), rate_unit(rate), time_unit(time)};
}

TableRow row_of(const Load& load, const llama::Config& model, const FigureInput& input, const ColumnUnits& units) {
  const std::int64_t parameters = parameters_of(load.part, model);
  const record::Bytes bytes = bytes_of(load, model);
  const double rate = link_rate(input.run->recording(), load.variant), now = time_of(load, model, *input.run);
  TableRow row{.name = std::string(load.name),
               .note = fmt::format("{} · {} = {} × {}", load.sum, load.part == LoadPart::kAll ? "P" : "their P",
                                   load.each, record::format_count(parameters)),
               .cells = {bytes_text(bytes, units.bytes), units.rate_text(rate), units.time_text(now)}};
  row.tip = rate > 0 ? fmt::format("{}: {} B at {} ({})", load.name, record::format_count(bytes), units.rate_text(rate),
                                   load.link)
                     : fmt::format("{}: this run did not measure the link {}", load.name, load.link);
  if (input.baseline != nullptr) {
    const double before = time_of(load, model, *input.baseline);
    const bool both = now >= 0 && before >= 0;
    row.cells.push_back(both ? (now < before ? "" : "+") + amount_text(now - before, units.time) : "–");
  }
  return row;
}

void add_offload_times_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  if (!begin_bench(figure.head, input)) return;
  if (input.view.hidden) return figure.leave_empty(kPartOfAnswer);
  const llama::Config& model = *llama::find_config(params.text("model"));
  Table table{.head = "What crosses each link in one step",
              .columns = {"bytes", "bandwidth", "time"},
              .foot = "Overlapping times do not add up: a step takes at least the longest of them and its computing time."};
  if (input.baseline != nullptr) {
    table.columns.emplace_back("B − A");
    add_baseline(figure.head.provenance, input.baseline->recording());
  }
  const ColumnUnits units = units_of(model, *input.run);
  for (const Load& load : kLoads) table.rows.push_back(row_of(load, model, input, units));
  figure.add(std::move(table));
}

}  // namespace

extern const Figure kOffloadTimes;
constinit const Figure kOffloadTimes{
    .id = "offload_times",
    .title = "Formula",
    .caption =
        "Bytes that cross each link in an offloaded step by closed form, and how long that takes at the measured speed",
    .schema = kOffloadTimesSchema,
    .add_panels = add_offload_times_panels,
};

}  // namespace headroom::lessons
