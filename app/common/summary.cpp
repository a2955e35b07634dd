// Summarizes a run in a few numbers.
#include "app/common/summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/settings_json.h"
#include "demos/experiments/demo.h"
#include "demos/llama/files/hugging_face.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/quantile.h"
#include "demos/record/text.h"
#include "demos/record/timeline.h"

namespace headroom::app {

using nlohmann::json;
using record::fact_of;
using record::MetricKind;
using record::MetricSample;

namespace {

record::Outcome outcome_of(const record::Recording& recording) {
  if (recording.outcome()) return *recording.outcome();
  return {record::OutcomeKind::kEngineLost, "The recording ends before its run does.", std::nullopt};
}

std::optional<double> last_of(const record::Recording& recording, MetricKind kind) {
  const auto& metrics = recording.metrics();
  const auto last =
      std::find_if(metrics.rbegin(), metrics.rend(), [&](const MetricSample& sample) { return sample.kind == kind; });
  return last == metrics.rend() ? std::nullopt : std::optional<double>(last->value);
}

std::vector<std::optional<double>> losses_of(const record::Recording& recording) {
  std::vector<std::optional<double>> losses;
  double skipped = 0;
  for (const MetricSample& sample : recording.metrics()) {  // a step's loss precedes its count of skipped steps
    if (sample.kind == MetricKind::kLoss)
      losses.push_back(std::isfinite(sample.value) ? std::optional(sample.value) : std::nullopt);
    if (sample.kind != MetricKind::kSkippedSteps) continue;
    if (sample.value > skipped && !losses.empty()) losses.back().reset();
    skipped = sample.value;
  }
  return losses;
}

std::map<int, std::optional<double>> evaluation_losses_of(const record::Recording& recording) {
  std::map<int, std::optional<double>> losses;
  for (const MetricSample& sample : recording.metrics())
    if (sample.kind == MetricKind::kEvaluationLoss)
      losses[sample.step + 1] = std::isfinite(sample.value) ? std::optional(sample.value) : std::nullopt;
  return losses;
}

// The highest loss scale of any skipped step.
std::optional<double> overflow_scale_of(const record::Recording& recording) {
  std::optional<double> highest;
  double scale = 0, skipped = 0;
  for (const MetricSample& sample : recording.metrics()) {  // a step's loss scale precedes its count of skipped steps
    if (sample.kind == MetricKind::kLossScale) scale = sample.value;
    if (sample.kind != MetricKind::kSkippedSteps) continue;
    if (sample.value > skipped) highest = std::max(highest.value_or(0), scale);
    skipped = sample.value;
  }
  return highest;
}

std::int64_t count_of(std::optional<double> metric) {
  constexpr double kMost = 1e15;
  return metric && *metric > 0 && *metric < kMost ? static_cast<std::int64_t>(*metric) : 0;
}

std::optional<record::Bytes> allocator_peak_of(const record::Recording& recording) {
  record::Bytes peak = record::kUnknownBytes;
  for (const record::MemEvent& event : recording.events())
    if (event.device == recording.info().device) peak = std::max(peak, event.allocator_allocated);
  return peak == record::kUnknownBytes ? std::nullopt : std::optional<record::Bytes>(peak);
}

record::Bytes host_peak_of(const record::Recording& recording) {
  record::Bytes peak = 0;
  for (const record::MemEvent& event : recording.events())
    if (event.device == record::DeviceKind::kHost) peak = std::max(peak, event.allocator_allocated);
  return peak;
}

// Adds the optimizer file's bytes and waiting times to the row for the same direction.
void add_file_traffic(std::vector<record::Measurement>& links, const record::Measurement& row) {
  const auto same = [&](const record::Measurement& link) {
    return link.panel == row.panel && link.variant == row.variant && link.storage == row.storage;
  };
  const auto found = std::find_if(links.begin(), links.end(), same);
  if (found == links.end()) {
    links.push_back(row);
    links.back().label = row.variant == "file_read" ? "state's file to host" : "host to state's file";
    return;
  }
  found->bytes += row.bytes;
  found->median += row.median;
}

std::string list_categories(const record::ByCategory& bytes) {
  std::string text;
  for (int i = 0; i < record::kNumCategories; ++i) {
    const record::Bytes value = bytes[static_cast<std::size_t>(i)];
    if (value == 0) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", record::label_of(static_cast<record::Category>(i)), record::format_bytes(value));
  }
  return text;
}

json out_of_memory_json(const record::OutOfMemoryFacts& facts) {
  return {{"requested_bytes", facts.requested},
          {"allocated_bytes", facts.allocated},
          {"reserved_bytes", facts.reserved},
          {"limit_bytes", facts.limit},
          {"operator", facts.op},
          {"phase", record::key_of(facts.phase)},
          {"layer", facts.layer == record::kNoLayer ? json(nullptr) : json(facts.layer)},
          {"alive_by_category", record::to_object(facts.by_category)}};
}

// 1 byte/ns is 10⁹ bytes per second.
double gigabytes_a_second(const record::Measurement& row) {
  return row.median > 0 ? static_cast<double>(row.bytes) / row.median : 0;
}

json bandwidths_json(const std::vector<record::Measurement>& rows) {
  json all = json::array();
  for (const record::Measurement& row : rows)
    all.push_back({{"what", row.variant},
                   {"storage", row.storage},
                   {"bytes", row.bytes},
                   {"nanoseconds", row.median},
                   {"gigabytes_per_second", gigabytes_a_second(row)}});
  return all;
}

// Optimizer settings other than the defaults: "beta1=0.8, weight_decay=0".
std::string optimizer_of(const RunSummary& summary) {
  const experiments::DemoInfo* const demo = experiments::find_demo(summary.run->info().demo);
  if (demo == nullptr) return {};
  const record::Params params = record::Params::known_of(demo->schema, summary.run->info().params),
                       defaults(demo->schema);
  std::string text;
  for (const record::ParamSpec& spec : demo->schema) {
    const std::string value = params.as_text(spec.key);
    if (spec.group != experiments::kOptimizerGroup || value == defaults.as_text(spec.key) || !params.in_use(spec.key))
      continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", spec.key, value);
  }
  return text;
}

// "loss 3.2105 after step 20: the last 5217 of 52177 tokens"; empty without an evaluation.
std::string evaluation_of(const RunSummary& summary) {
  if (summary.evaluation_losses.empty()) return {};
  const auto& [steps, loss] = *summary.evaluation_losses.rbegin();
  const std::string held_out = fact_of(summary.run->info().provenance, "held_out");
  return fmt::format("loss {} after step {}{}", loss ? fmt::format("{:.4f}", *loss) : "that is not a number", steps,
                     held_out.empty() ? "" : ": " + record::printable(held_out));
}

// Returns the line in the summary.
std::string predicted_line(const RunSummary& summary, const PredictedPeak& predicted) {
  if (!predicted.allocated) return "no: " + record::printable(predicted.why_not);
  const bool ran_out = summary.outcome.kind == record::OutcomeKind::kOutOfMemory;
  if (predicted.out_of_memory != ran_out)
    return predicted.out_of_memory ? "out of memory" : record::format_bytes(*predicted.allocated) + ", which fits";
  return predicted_words(*predicted.allocated, summary.peak.allocated);
}

json predicted_json(const RunSummary& summary, const PredictedPeak& predicted) {
  if (!predicted.allocated) return {{"peak_bytes", nullptr}, {"reason", predicted.why_not}};
  return {{"peak_bytes", *predicted.allocated},
          {"measured_more_bytes", summary.peak.allocated - *predicted.allocated},
          {"out_of_memory", predicted.out_of_memory}};
}

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

}  // namespace

std::optional<record::Quantity> over_steps(const record::Recording& recording, MetricKind kind) {
  std::vector<const MetricSample*> samples;
  for (const MetricSample& sample : recording.metrics())
    if (sample.kind == kind && std::isfinite(sample.value)) samples.push_back(&sample);
  if (samples.empty()) return std::nullopt;
  const auto first_step =
      (*std::min_element(samples.begin(), samples.end(), [](auto* a, auto* b) { return a->step < b->step; }))->step;
  std::vector<double> values;
  for (const MetricSample* sample : samples)
    if (sample->step != first_step) values.push_back(sample->value);
  if (values.empty()) values.push_back(samples.front()->value);
  const record::Quantiles quantiles = record::quantiles_of(std::move(values));

  record::Quantity quantity;
  quantity.value = quantiles.median;
  quantity.unit = kind == MetricKind::kStepNanoseconds ? record::Unit::kNanoseconds : record::Unit::kTokensPerSecond;
  quantity.source = recording.info().source;
  quantity.samples = static_cast<int>(quantiles.samples);
  if (quantiles.samples > 1) {
    quantity.low = quantiles.low;
    quantity.high = quantiles.high;
  }
  return quantity;
}

RunSummary summarise(const record::Ledger& ledger) {
  const record::Recording& recording = ledger.recording();
  const record::Peak peak = ledger.peak();
  const auto& [params, provenance] = std::tie(recording.info().params, recording.info().provenance);
  RunSummary summary{.run = &recording,
                     .outcome = outcome_of(recording),
                     .device = fact_of(provenance, "device", record::key_of(recording.info().device)),
                     .peak = {.allocated = peak.totals.allocated,
                              .requested = ledger.peak_requested(),
                              .reserved = ledger.peak_reserved(),
                              .host = host_peak_of(recording),
                              .by_category = peak.totals.by_category},
                     .allocator_peak = allocator_peak_of(recording)};
  if (ledger.size() > 0) summary.peak.phase = recording.events()[peak.event].phase;
  const auto steps = record::steps_of(recording);
  summary.steps = static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [](const record::StepRange& step) { return step.complete; }));
  summary.ranks = summarise_ranks(ledger);
  summary.tokens_per_second = over_steps(recording, MetricKind::kTokensPerSecond);
  summary.loss = last_of(recording, MetricKind::kLoss);
  summary.losses = losses_of(recording);
  summary.evaluation_losses = evaluation_losses_of(recording);
  const std::string weights = fact_of(params, "weights");
  summary.tokens = fact_of(provenance, "tokens");  // missing in old runs, which trained on bytes
  summary.bytes_as_tokens = !weights.empty() && !llama::is_config_alone(weights) &&
                            (summary.tokens.empty() || summary.tokens.starts_with("bytes "));
  summary.skipped_steps = count_of(last_of(recording, MetricKind::kSkippedSteps));
  for (const record::Measurement& row : recording.measurements())
    if (row.panel == record::Measurement::kBandwidth)
      summary.bandwidths.push_back(row);
    else if (row.panel == record::Measurement::kOffloadFile)
      add_file_traffic(summary.bandwidths, row);
  return summary;
}

std::string to_json(const RunSummary& summary, const std::optional<PredictedPeak>& predicted) {
  const record::RunInfo& info = summary.run->info();
  json document = {
      {"demo", info.demo},
      {"outcome", record::key_of(summary.outcome.kind)},
      {"message", summary.outcome.message},
      {"source", record::key_of(info.source)},
      {"device", summary.device},
      {"peak_bytes", summary.peak.allocated},
      {"peak_requested_bytes", summary.peak.requested},
      {"peak_reserved_bytes", summary.peak.reserved},
      {"peak_host_bytes", summary.peak.host},
      {"peak_by_category", record::to_object(summary.peak.by_category)},
      {"peak_allocator_bytes", or_null(summary.allocator_peak)},
      {"steps", summary.steps},
      {"tokens_per_second", nullptr},
      {"loss", summary.loss && std::isfinite(*summary.loss) ? json(*summary.loss) : json(nullptr)},
      {"losses", json::array()},
      {"evaluation_losses", json::array()},
      {"bytes_as_tokens", summary.bytes_as_tokens},
      {"loss_scale", or_null(last_of(*summary.run, MetricKind::kLossScale))},
      {"skipped_steps", summary.skipped_steps},
      {"events", summary.run->events().size()},
      {"dropped_events", summary.run->dropped_events()},
      {"params", settings_json(info.demo, info.params, info.provenance)},
      {"provenance", info.provenance},
  };
  for (const std::optional<double>& loss : summary.losses) document["losses"].push_back(or_null(loss));
  for (const auto& [steps, loss] : summary.evaluation_losses)
    document["evaluation_losses"].push_back({{"steps", steps}, {"loss", or_null(loss)}});
  if (summary.tokens_per_second) {
    const record::Quantity& speed = *summary.tokens_per_second;
    document["tokens_per_second"] = speed.value;
    document["tokens_per_second_spread"] = {
        {"p20", or_null(speed.low)}, {"p80", or_null(speed.high)}, {"samples", speed.samples}};
  }
  if (predicted) document["predicted"] = predicted_json(summary, *predicted);
  if (summary.outcome.out_of_memory) document["out_of_memory"] = out_of_memory_json(*summary.outcome.out_of_memory);
  if (!summary.ranks.empty()) document["ranks"] = ranks_json(summary.ranks);
  if (!summary.bandwidths.empty()) document["bandwidth"] = bandwidths_json(summary.bandwidths);
  if (const auto& report = summary.run->kernel_report())
    document["kernel_report"] = record::to_object(*report, record::Form::kJson);
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string outcome_words(record::OutcomeKind outcome) {
  std::string text(outcome == record::OutcomeKind::kCompleted ? "done" : record::key_of(outcome));
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string to_text(const RunSummary& summary, const std::optional<PredictedPeak>& predicted) {
  std::string text =
      fmt::format("{}: {} ({})\n", summary.run->info().demo, outcome_words(summary.outcome.kind), summary.device);
  const auto row = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<9} {}\n", name, value);
  };
  if (summary.outcome.out_of_memory)
    row("reason", explain(*summary.outcome.out_of_memory));
  else if (!summary.outcome.message.empty())
    row(summary.outcome.kind == record::OutcomeKind::kCompleted ? "note" : "reason",
        record::printable(summary.outcome.message));
  if (!summary.run->events().empty()) {
    std::string peak = fmt::format("{} (requested {}", record::format_bytes(summary.peak.allocated),
                                   record::format_bytes(summary.peak.requested));
    if (summary.peak.reserved > 0) peak += ", reserved " + record::format_bytes(summary.peak.reserved);
    row("peak", peak + ")");
    row("", list_categories(summary.peak.by_category));
    if (predicted) row("predicted", predicted_line(summary, *predicted));
    if (summary.peak.host > 0) row("host", record::format_bytes(summary.peak.host) + " beside the device");
  }
  text += ranks_text(summary.ranks);
  if (summary.tokens_per_second) row("speed", record::format(*summary.tokens_per_second));
  if (summary.skipped_steps > 0)
    row("note", fmt::format("{} step{} skipped: overflow at loss scale {}", record::format_count(summary.skipped_steps),
                            summary.skipped_steps == 1 ? "" : "s",
                            record::format_count(count_of(overflow_scale_of(*summary.run)))));
  if (const std::string set = optimizer_of(summary); !set.empty()) row("optimizer", set);
  if (summary.loss) row("loss", fmt::format("{:.4f}", *summary.loss));
  if (const std::string evaluated = evaluation_of(summary); !evaluated.empty()) row("held out", evaluated);
  if (summary.loss && !summary.tokens.empty()) row("tokens", record::printable(summary.tokens));
  if (summary.loss && summary.bytes_as_tokens)
    row("note",
        "Each byte of the text was used as a token id, because the checkpoint has no tokenizer.json: this loss says "
        "nothing about the model on that text.");
  for (const char* const kept : {"resumed", "saved"})
    if (const std::string folder = fact_of(summary.run->info().provenance, kept); !folder.empty())
      row(kept, record::printable(folder));
  for (const record::Measurement& link : summary.bandwidths)
    text += fmt::format("  {:<30} {:<9} {:>8.1f} GB/s\n", link.label, link.storage, gigabytes_a_second(link));
  if (const auto& report = summary.run->kernel_report()) {
    row("kernel", report->sentence);
    for (const record::CompilerMessage& message : report->messages)
      text += fmt::format("{}{}: {}\n", message.line > 0 ? fmt::format("line {}: ", message.line) : std::string(),
                          message.error ? "error" : "warning", message.text);
    row("compiler", fmt::format("{}, for {}", report->compiler, report->architecture));
  }
  if (const auto dropped = static_cast<std::int64_t>(summary.run->dropped_events()); dropped > 0)
    row("note", fmt::format("{} events were dropped: the peak may be higher.", record::format_count(dropped)));
  return text;
}

std::string predicted_words(record::Bytes predicted, record::Bytes measured) {
  std::string words = record::format_bytes(predicted);
  if (predicted == measured) return words + ": equal to the byte";
  constexpr double kLeastPercent = 0.05;
  const double percent = 100 * static_cast<double>(predicted - measured) / static_cast<double>(measured);
  const std::string amount = std::abs(percent) < kLeastPercent
                                 ? record::format_count(std::abs(predicted - measured)) + " B"
                                 : fmt::format("{:.1f} %", std::abs(percent));
  return words + fmt::format(", {} {}", amount, predicted > measured ? "more" : "less");
}

std::string explain(const record::OutOfMemoryFacts& facts) {
  std::string where = std::string(record::label_of(facts.phase));
  if (facts.layer != record::kNoLayer) where += fmt::format(", layer {}", facts.layer);
  std::string text = fmt::format("{} requested {} ({})", facts.op.empty() ? "an operator" : facts.op,
                                 record::format_bytes(facts.requested), where);
  text += fmt::format(" while {} were in use", record::format_bytes(facts.allocated));
  if (facts.reserved > 0) text += fmt::format(" and {} reserved", record::format_bytes(facts.reserved));
  if (facts.limit > 0) text += fmt::format(", of {}", record::format_bytes(facts.limit));
  text += ".";
  const std::string alive = list_categories(facts.by_category);
  if (!alive.empty()) text += " Alive: " + alive + ".";
  return text;
}

}  // namespace headroom::app
