// Summarizes a run in a few numbers.
#include "app/common/summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/settings_json.h"
#include "demos/experiments/demo.h"
#include "demos/llama/hugging_face.h"
#include "demos/record/json_fields.h"
#include "demos/record/quantile.h"
#include "demos/record/text.h"
#include "demos/record/timeline.h"

namespace headroom::app {

using nlohmann::json;
using record::MetricKind;
using record::MetricSample;

namespace {

record::Outcome outcome_of(const record::Recording& recording) {
  if (recording.outcome()) return *recording.outcome();
  return {record::OutcomeKind::kEngineLost, "The recording ends before its run does.", std::nullopt};
}

std::string device_name(const record::RunInfo& info) {
  const auto named = info.provenance.find("device");
  return named != info.provenance.end() ? named->second : std::string(record::key_of(info.device));
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

// The highest loss scale of a skipped step.
std::optional<double> overflow_scale_of(const record::Recording& recording) {
  std::optional<double> highest;
  double scale = 0, skipped = 0;
  for (const MetricSample& sample : recording.metrics()) {  // a step's scale precedes its count
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

// Sums the bytes of one direction of the optimizer's file, and the time that steps waited for them.
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
  const experiments::DemoInfo* const demo = experiments::find_demo(summary.demo);
  if (demo == nullptr) return {};
  const record::Params params = record::Params::known_of(demo->schema, summary.params), defaults(demo->schema);
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
  const auto held_out = summary.provenance.find("held_out");
  return fmt::format("loss {} after step {}{}", loss ? fmt::format("{:.4f}", *loss) : "that is not a number", steps,
                     held_out == summary.provenance.end() ? "" : ": " + record::printable(held_out->second));
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
  RunSummary summary;
  summary.demo = recording.info().demo;
  summary.outcome = outcome_of(recording);
  summary.source = recording.info().source;
  summary.params = recording.info().params;
  summary.provenance = recording.info().provenance;
  summary.device = device_name(recording.info());
  summary.peak = peak.totals.allocated;
  summary.peak_requested = ledger.peak_requested();
  summary.peak_reserved = ledger.peak_reserved();
  summary.peak_by_category = peak.totals.by_category;
  summary.peak_host = host_peak_of(recording);
  summary.allocator_peak = allocator_peak_of(recording);
  const auto steps = record::steps_of(recording);
  summary.steps = static_cast<int>(
      std::count_if(steps.begin(), steps.end(), [](const record::StepRange& step) { return step.complete; }));
  summary.tokens_per_second = over_steps(recording, MetricKind::kTokensPerSecond);
  summary.loss = last_of(recording, MetricKind::kLoss);
  summary.losses = losses_of(recording);
  summary.evaluation_losses = evaluation_losses_of(recording);
  const auto weights = summary.params.find("weights");
  const auto tokens = summary.provenance.find("tokens");  // missing in old runs, which read bytes
  if (tokens != summary.provenance.end()) summary.tokens = tokens->second;
  summary.bytes_as_tokens = weights != summary.params.end() && !weights->second.empty() &&
                            !llama::is_config_alone(weights->second) &&
                            (summary.tokens.empty() || summary.tokens.starts_with("bytes "));
  summary.loss_scale = last_of(recording, MetricKind::kLossScale);
  summary.skipped_steps = count_of(last_of(recording, MetricKind::kSkippedSteps));
  summary.overflow_scale = overflow_scale_of(recording);
  summary.kernel_report = recording.kernel_report();
  for (const record::Measurement& row : recording.measurements())
    if (row.panel == record::Measurement::kBandwidth)
      summary.bandwidths.push_back(row);
    else if (row.panel == record::Measurement::kOffloadFile)
      add_file_traffic(summary.bandwidths, row);
  summary.events = recording.events().size();
  summary.dropped_events = recording.dropped_events();
  return summary;
}

std::string to_json(const RunSummary& summary) {
  json document = {
      {"demo", summary.demo},
      {"outcome", record::key_of(summary.outcome.kind)},
      {"message", summary.outcome.message},
      {"source", record::key_of(summary.source)},
      {"device", summary.device},
      {"peak_bytes", summary.peak},
      {"peak_requested_bytes", summary.peak_requested},
      {"peak_reserved_bytes", summary.peak_reserved},
      {"peak_host_bytes", summary.peak_host},
      {"peak_by_category", record::to_object(summary.peak_by_category)},
      {"peak_allocator_bytes", or_null(summary.allocator_peak)},
      {"steps", summary.steps},
      {"tokens_per_second", nullptr},
      {"loss", summary.loss && std::isfinite(*summary.loss) ? json(*summary.loss) : json(nullptr)},
      {"losses", json::array()},
      {"evaluation_losses", json::array()},
      {"bytes_as_tokens", summary.bytes_as_tokens},
      {"loss_scale", or_null(summary.loss_scale)},
      {"skipped_steps", summary.skipped_steps},
      {"events", summary.events},
      {"dropped_events", summary.dropped_events},
      {"params", settings_json(summary.demo, summary.params, summary.provenance)},
      {"provenance", summary.provenance},
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
  if (summary.outcome.out_of_memory) document["out_of_memory"] = out_of_memory_json(*summary.outcome.out_of_memory);
  if (!summary.bandwidths.empty()) document["bandwidth"] = bandwidths_json(summary.bandwidths);
  if (summary.kernel_report) document["kernel_report"] = record::to_object(*summary.kernel_report, record::Form::kJson);
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string to_text(const RunSummary& summary) {
  std::string outcome(summary.outcome.kind == record::OutcomeKind::kCompleted ? "done"
                                                                              : record::key_of(summary.outcome.kind));
  std::replace(outcome.begin(), outcome.end(), '_', ' ');
  std::string text = fmt::format("{}: {} ({})\n", summary.demo, outcome, summary.device);
  const auto row = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<9} {}\n", name, value);
  };
  if (summary.outcome.out_of_memory)
    row("reason", explain(*summary.outcome.out_of_memory));
  else if (!summary.outcome.message.empty())
    row(summary.outcome.kind == record::OutcomeKind::kCompleted ? "note" : "reason",
        record::printable(summary.outcome.message));
  if (summary.events > 0) {
    std::string peak = fmt::format("{} (asked for {}", record::format_bytes(summary.peak),
                                   record::format_bytes(summary.peak_requested));
    if (summary.peak_reserved > 0) peak += ", reserved " + record::format_bytes(summary.peak_reserved);
    row("peak", peak + ")");
    row("", list_categories(summary.peak_by_category));
    if (summary.peak_host > 0) row("host", record::format_bytes(summary.peak_host) + " beside the device");
  }
  if (summary.tokens_per_second) row("speed", record::format(*summary.tokens_per_second));
  if (summary.skipped_steps > 0)
    row("note",
        fmt::format("{} step{} skipped: overflow at loss scale {}", record::format_count(summary.skipped_steps),
                    summary.skipped_steps == 1 ? "" : "s", record::format_count(count_of(summary.overflow_scale))));
  if (const std::string set = optimizer_of(summary); !set.empty()) row("optimizer", set);
  if (summary.loss) row("loss", fmt::format("{:.4f}", *summary.loss));
  if (const std::string evaluated = evaluation_of(summary); !evaluated.empty()) row("held out", evaluated);
  if (summary.loss && !summary.tokens.empty()) row("tokens", record::printable(summary.tokens));
  if (summary.loss && summary.bytes_as_tokens)
    row("note",
        "Each byte of the text was used as a token id, because the checkpoint has no tokenizer.json: this loss says "
        "nothing about the model on that text.");
  for (const char* const kept : {"resumed", "saved"})
    if (const auto folder = summary.provenance.find(kept); folder != summary.provenance.end())
      row(kept, record::printable(folder->second));
  for (const record::Measurement& link : summary.bandwidths)
    text += fmt::format("  {:<30} {:<9} {:>8.1f} GB/s\n", link.label, link.storage, gigabytes_a_second(link));
  if (summary.kernel_report) {
    const record::KernelReport& report = *summary.kernel_report;
    row("kernel", report.sentence);
    for (const record::CompilerMessage& message : report.messages)
      text += fmt::format("{}{}: {}\n", message.line > 0 ? fmt::format("line {}: ", message.line) : std::string(),
                          message.error ? "error" : "warning", message.text);
    row("compiler", fmt::format("{}, for {}", report.compiler, report.architecture));
  }
  if (summary.dropped_events > 0)
    row("note", fmt::format("{} events were dropped: the peak may be higher.",
                            record::format_count(static_cast<std::int64_t>(summary.dropped_events))));
  return text;
}

std::string explain(const record::OutOfMemoryFacts& facts) {
  std::string where = std::string(record::label_of(facts.phase));
  if (facts.layer != record::kNoLayer) where += fmt::format(", layer {}", facts.layer);
  std::string text = fmt::format("{} asked for {} ({})", facts.op.empty() ? "an operator" : facts.op,
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
