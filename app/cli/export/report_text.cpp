#include "app/cli/export/report_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/strategies.h"
#include "demos/predict/forms/report_form.h"
#include "lessons/measurements/sweep.h"
#include "lessons/measurements/tables.h"
#include "lessons/theory/line_fit.h"
#include "lessons/wording.h"

namespace headroom::app {

using lessons::PublishedRun;
using record::SweepPoint;

namespace {

const PublishedRun* published(const SweepPoint& point) {
  for (const PublishedRun& run : lessons::published_runs())
    if ((run.experiment == "batch" || run.experiment == "sequence") && run.strategy == point.series &&
        run.batch == lessons::setting(point, "batch") && run.seq == lessons::setting(point, "seq"))
      return &run;
  return nullptr;
}

std::string peak_text(const SweepPoint& point) {
  if (lessons::completed(point)) return record::format_count(point.peak.allocated);
  return lessons::ran_out(point) ? "out of memory" : std::string(record::key_of(point.outcome.kind));
}

std::string published_columns(const SweepPoint& point) {
  const auto form =
      predict::report_peak(*predict::report_loss(point.series), static_cast<double>(lessons::setting(point, "batch")),
                           lessons::setting(point, "seq"));
  const PublishedRun* const run = published(point);
  const std::string peak = run == nullptr ? "" : run->out_of_memory ? "out of memory" : record::format_count(run->peak);
  std::string ratio;
  if (run != nullptr && run->peak > 0 && lessons::completed(point))
    ratio = fmt::format("{:.2f}", static_cast<double>(point.peak.allocated) / static_cast<double>(run->peak));
  const std::string speed =
      run == nullptr || run->tokens_per_second <= 0 ? "" : lessons::speed_text(run->tokens_per_second);
  return fmt::format(" {} | {} | {} | {} |", peak, record::format_count(form.bytes()), ratio, speed);
}

std::string table_of(const record::Recording& sweep, bool with_published) {
  std::string text = "| strategy | batch × tokens | peak, bytes | reserved, bytes | tokens/s |";
  if (with_published) text += " published peak | closed form | ratio | published tokens/s |";
  text += "\n|---|---:|---:|---:|---:|";
  if (with_published) text += "---:|---:|---:|---:|";
  text += "\n";
  for (const SweepPoint& point : sweep.sweep_points()) {
    text += fmt::format("| {} | {} | {} | {} | {} |", point.series, point.label, peak_text(point),
                        point.peak.reserved > 0 ? record::format_count(point.peak.reserved) : "",
                        point.tokens_per_second > 0 ? lessons::speed_text(point.tokens_per_second) : "");
    if (with_published && predict::report_loss(point.series)) text += published_columns(point);
    text += "\n";
  }
  return text;
}

// The most tokens with which a step ran, and the fewest with which a step ran out of memory.
std::string limits_of(const record::Recording& sweep, std::string_view strategy) {
  std::int64_t most = 0, fewest = 0;
  for (const SweepPoint& point : sweep.sweep_points()) {
    if (point.series != strategy) continue;
    const std::int64_t tokens = lessons::setting(point, "batch") * lessons::setting(point, "seq");
    if (lessons::completed(point)) most = std::max(most, tokens);
    if (lessons::ran_out(point) && (fewest == 0 || tokens < fewest)) fewest = tokens;
  }
  if (most == 0 && fewest == 0) return "";
  std::string text = fmt::format("- `{}`: ", strategy);
  text += most > 0 ? fmt::format("up to {} tokens per step ran", record::format_count(most)) : "nothing ran";
  if (fewest > 0) text += fmt::format(", {} ran out of memory", record::format_count(fewest));
  return text + ".\n";
}

// Bytes per additional token: the slope of a least-squares line through a strategy's completed points.
std::string slope_of(const record::Recording& sweep, std::string_view strategy) {
  std::vector<lessons::LinePoint> points;
  for (const SweepPoint& point : sweep.sweep_points())
    if (point.series == strategy && lessons::completed(point))
      points.push_back({static_cast<double>(lessons::setting(point, "batch") * lessons::setting(point, "seq")),
                        static_cast<double>(point.peak.allocated)});
  const auto line = lessons::fit_line(points);
  if (!line) return "";
  return fmt::format("- `{}`: {} B per additional token (straight line through {} points).\n", strategy,
                     record::format_count(std::llround(line->slope)), points.size());
}

constexpr std::string_view kWhy = R"(
## Why the numbers differ from the published ones

- **The constant part.** The report's floor of 3,596,139,008 B is DeepSpeed's: at the end of backward it gathers all
  gradients of a partition on the card before they go to the host. Here each layer's gradients move to the host as soon
  as they are complete, so there is no such spike, and the peak falls inside the step.
- **The slope without FLCE.** It comes from the fp32 logits: two tensors of T rows (one is the previous step's output,
  which the loop still holds) and two of the T − 1 shifted rows take 16 · V B per token, and the layer adds 81,948 B.
  The same code gives the same slope here; the rest of the difference is the allocator's rounding and placement.
- **The slope with everything on.** The checkpoints take 65,536 B per token; the rest is one layer's backward. Fewer
  bytes than the report's 168,088 mean that our kernels keep less of that layer.
- **Speed.** The report used an RTX 4090 on a desktop's PCIe and CPU Adam on 24 cores. Its three timed iterations
  include the first one, and a profiler was on. Here the first step is left out and nothing else is measured. Below
  about 8,192 tokens per step both are limited by the bus and the host's Adam: a larger batch spreads that fixed time.
- **Out of memory.** The cap limits what the allocator reserves; the CUDA context takes the rest of the 24,564 MiB of
  the report's card. The report draws "OOM" wherever it has no number; here each of these points was run.
)";

}  // namespace

std::string report_text(const record::Recording& sweep, bool quick) {
  std::string text = "# The report's experiment, repeated\n\n";
  text += lessons::provenance_line(sweep.info()) + ".\n\n";
  text += "Made by `headroom report" + std::string(quick ? " --quick" : "") + "`";
  if (const auto revision = record::fact_of(sweep.info().provenance, "revision"); !revision.empty())
    text += " of revision " + revision;
  text +=
      ". Strategies: `hf` computes the loss as Hugging Face did in 2024 and keeps its output, `liger_without_flce` "
      "adds fused RMSNorm, RoPE and SwiGLU, and `liger_all` also fuses the loss with the output layer.\n\n";
  if (quick)
    text +=
        "The tiny model on the CPU, in bf16 instead of fp16, whose GEMMs are slow there. No published values exist "
        "for it.\n\n";
  text += table_of(sweep, !quick);
  text += "\n## The largest step of each strategy\n\n";
  for (const auto& strategy : experiments::report_strategies()) text += limits_of(sweep, strategy.series);
  text += "\n## Bytes per additional token\n\n";
  for (const auto& strategy : experiments::report_strategies()) text += slope_of(sweep, strategy.series);
  if (!quick) text += kWhy;
  return text;
}

}  // namespace headroom::app
