// Two runs in a few numbers.
#include "app/page/comparison.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/page/param_scale.h"
#include "demos/experiments/demo.h"
#include "demos/record/timeline.h"
#include "lessons/bench.h"
#include "lessons/moment_errors.h"
#include "lessons/names.h"
#include "lessons/sweep.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

using record::Bytes;
using record::MetricKind;

std::string with_sign(bool more, const std::string& size) { return (more ? "+" : "−") + size; }

// "−16 %", from ten times on "×29"; nothing where it would round to nothing.
std::string share_of(double a, double b) {
  const auto percent = std::lround(100 * (b - a) / a);
  if (a <= 0 || percent == 0) return {};
  if (b >= 10 * a) return "×" + record::format_count(std::llround(b / a));
  return with_sign(percent > 0, fmt::format("{} %", std::labs(percent)));
}

// "Checkpointing each layer", "Batch 8 sequences"; a count that its own label would say twice is alone: "3 steps".
std::string named_value(const record::ParamSpec& spec, const record::Params& params) {
  const std::string value = shown_value(spec, params);
  if (!spec.unit.empty() && lessons::capitalised(spec.unit) == spec.label) return value;
  return fmt::format("{} {}", spec.label, value);
}

// The settings of `run` that are others in `other`, as the page names them: "Checkpointing each layer, Batch 8".
std::string settings_unlike(const record::RunInfo& run, const record::RunInfo& other) {
  const experiments::DemoInfo* demo = experiments::find_demo(run.demo);
  std::string words;
  if (demo == nullptr) return words;
  const record::Params params = record::Params::known_of(demo->schema, run.params);
  for (const record::ParamSpec& spec : demo->schema) {
    const auto here = run.params.find(std::string(spec.key)), there = other.params.find(std::string(spec.key));
    if (here == run.params.end() || there == other.params.end() || here->second == there->second) continue;
    if (!params.in_use(spec.key)) continue;
    words += (words.empty() ? "" : ", ") + named_value(spec, params);
  }
  return words;
}

// Of the last whole step, as the timeline shows it; of all that there is where no step is whole.
Bytes peak_of(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return (step ? run.peak(step->first, step->last) : run.peak()).totals.allocated;
}

Comparison::Row peak_row(Bytes a, Bytes b) {
  return {"Peak", record::format_bytes(a), record::format_bytes(b),
          a == b ? "the same" : with_sign(b > a, record::format_bytes(std::abs(b - a))),
          share_of(static_cast<double>(a), static_cast<double>(b))};
}

Comparison::Row step_row(double a, double b) {
  const auto text = [](double nanoseconds) { return record::format_duration(std::llround(nanoseconds)); };
  return {"Step time", text(a), text(b), with_sign(b > a, text(std::abs(b - a))), share_of(a, b)};
}

Comparison::Row number_row(std::string_view head, double a, double b, std::string (*text)(double)) {
  return {head, text(a), text(b), text(a) == text(b) ? "the same" : with_sign(b > a, text(std::abs(b - a))),
          share_of(a, b)};
}

std::string rate_text(double bytes_per_second) { return lessons::rate_text(bytes_per_second); }
std::string percent_text(double percent) { return fmt::format("{:.1f} %", percent); }
std::string bytes_text(double bytes) { return record::format_bytes(std::llround(bytes)); }
std::string count_text(double count) { return record::format_count(std::llround(count)); }

Comparison::Row speed_row(double a, double b) { return number_row("Tokens/s", a, b, count_text); }

Comparison::Row loss_row(double a, double b) {
  const double change = b - a;
  // Small differences are what fused kernels are asked about: as many digits as show them.
  const std::string size = std::abs(change) >= 5e-4 || change == 0 ? fmt::format("{:.3f}", std::abs(change))
                                                                   : fmt::format("{:.0e}", std::abs(change));
  return {"Loss, last step", fmt::format("{:.3f}", a), fmt::format("{:.3f}", b),
          change == 0 ? "the same" : with_sign(change > 0, size), ""};
}

// Links of a machine.
void add_links(Comparison& comparison, const record::Recording& a, const record::Recording& b) {
  struct Link {
    std::string_view variant, head;
  };
  constexpr std::array<Link, 6> kLinks{{{"to_device", "Host to GPU"},
                                        {"to_host", "GPU to host"},
                                        {"host_copy", "Host copy"},
                                        {"file_read", "File to host"},
                                        {"file_write", "Host to file"},
                                        {"adamw", "AdamW, CPU"}}};
  for (const Link& link : kLinks) {
    const double rate_a = lessons::link_rate(a, link.variant), rate_b = lessons::link_rate(b, link.variant);
    if (rate_a > 0 && rate_b > 0) comparison.rows.push_back(number_row(link.head, rate_a, rate_b, rate_text));
  }
}

// Ladders by where they end: their last rungs have the same switches in any order.
void add_ladders(Comparison& comparison, const record::Recording& a, const record::Recording& b) {
  if (a.sweep_points().empty() || b.sweep_points().empty()) return;
  const record::SweepPoint &first_a = a.sweep_points().front(), &first_b = b.sweep_points().front();
  const record::SweepPoint &last_a = a.sweep_points().back(), &last_b = b.sweep_points().back();
  if (first_a.series != "ladder" || first_b.series != "ladder") return;
  const auto add = [&](std::string_view head, const record::SweepPoint& before, const record::SweepPoint& now) {
    const bool whole = lessons::completed(before) && lessons::completed(now);
    if (!whole) return;
    comparison.rows.push_back(peak_row(before.peak_allocated, now.peak_allocated));
    comparison.rows.back().head = head;
  };
  add("First rung", first_a, first_b);
  add("Last rung", last_a, last_b);
  if (last_a.tokens_per_second > 0 && last_b.tokens_per_second > 0)
    comparison.rows.push_back(speed_row(last_a.tokens_per_second, last_b.tokens_per_second));
  if (last_a.loss && last_b.loss) comparison.rows.push_back(loss_row(*last_a.loss, *last_b.loss));
}

}  // namespace

std::optional<double> last_metric(const record::Recording& run, MetricKind kind) {
  const auto& metrics = run.metrics();
  for (auto sample = metrics.rbegin(); sample != metrics.rend(); ++sample)
    if (sample->kind == kind && std::isfinite(sample->value)) return sample->value;
  return std::nullopt;
}

std::string techniques_of(const record::RunInfo& run) {
  const experiments::DemoInfo& demo = experiments::training_step();
  if (run.demo != demo.id) return {};
  const record::Params params = record::Params::known_of(demo.schema, run.params), defaults(demo.schema);
  std::string words;
  int fused = 0;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  for (const record::ParamSpec& spec : demo.schema) {
    if (spec.role != record::ParamRole::kTechnique || lessons::in_provenance_line(spec)) continue;
    if (!params.in_use(spec.key) || params.as_text(spec.key) == defaults.as_text(spec.key)) continue;
    const bool kernel = spec.kind == record::ParamKind::kSwitch && spec.own_kernels.composed && params.on(spec.key);
    if (kernel && ++fused > 1) continue;
    add(kernel ? "fused kernels" : named_value(spec, params));
  }
  return words;
}

Comparison compare_runs(const record::Ledger& a, const record::Ledger& b) {
  Comparison comparison;
  if (const Bytes peak_a = peak_of(a), peak_b = peak_of(b); peak_a > 0 && peak_b > 0)
    comparison.rows.push_back(peak_row(peak_a, peak_b));
  const auto both = [&](MetricKind kind, Comparison::Row (*row)(double, double)) {
    const auto value_a = last_metric(a.recording(), kind), value_b = last_metric(b.recording(), kind);
    // A benchmark's steps are its repeats: how long they took says nothing.
    const bool steps = a.recording().measurements().empty() && b.recording().measurements().empty();
    if (value_a && value_b && steps) comparison.rows.push_back(row(*value_a, *value_b));
  };
  const auto reserved = [](const record::Ledger& run) { return static_cast<double>(run.peak_reserved()); };
  if (reserved(a) > 0 && reserved(b) > 0)
    comparison.rows.push_back(number_row("Reserved", reserved(a), reserved(b), bytes_text));
  both(MetricKind::kStepNanoseconds, step_row);
  both(MetricKind::kTokensPerSecond, speed_row);
  both(MetricKind::kLoss, loss_row);
  add_links(comparison, a.recording(), b.recording());
  add_ladders(comparison, a.recording(), b.recording());
  const double error_a = lessons::second_moment_error(a.recording(), true, 2048);
  const double error_b = lessons::second_moment_error(b.recording(), true, 2048);
  if (error_a >= 0 && error_b >= 0)
    comparison.rows.push_back(number_row("Error, dynamic 2,048", error_a, error_b, percent_text));
  comparison.a = settings_unlike(a.recording().info(), b.recording().info());
  comparison.b = settings_unlike(b.recording().info(), a.recording().info());
  return comparison;
}

}  // namespace headroom::app::page
