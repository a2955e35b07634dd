// Computes the rows of a comparison.
#include "app/page/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "app/common/summary.h"
#include "app/page/settings/param_scale.h"
#include "demos/experiments/demo.h"
#include "demos/record/timeline.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/moment_errors.h"
#include "lessons/measurements/sweep.h"
#include "lessons/names.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

using record::Bytes;
using record::MetricKind;
using record::Quantity;
using Text = std::function<std::string(double)>;

constexpr int kFewestSteps = 5;  // with fewer, medians are unreliable
constexpr std::string_view kStepTime = "Step time", kSpeed = "Tokens/s";

std::string with_sign(bool more, const std::string& size) { return (more ? "+" : "−") + size; }

// "−16 %"; for increases of a factor of ten or more, "×29"; empty if it rounds to 0 %.
std::string share_of(double a, double b) {
  const auto percent = std::lround(100 * (b - a) / a);
  if (a <= 0 || percent == 0) return {};
  if (b >= 10 * a) return "×" + record::format_count(std::llround(b / a));
  return with_sign(percent > 0, fmt::format("{} %", std::labs(percent)));
}

// "Batch 8 sequences"; "3 steps" if the label would repeat the unit.
std::string named_value(const record::ParamSpec& spec, const record::Params& params) {
  const std::string value = shown_value(spec, params);
  if (!spec.unit.empty() && lessons::capitalised(spec.unit) == spec.label) return value;
  return fmt::format("{} {}", spec.label, value);
}

// Settings of `run` that have other values in `other`, in words.
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

// The peak of the last complete step, as in the timeline, or else of the run.
Bytes peak_of(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return (step ? run.peak(step->first, step->last) : run.peak()).totals.allocated;
}

struct Scale {
  double size = 1;
  std::string_view name;
};

// "1,023.50 MiB": the largest unit that `value` reaches, if only by rounding.
template <std::size_t kCount>
Text in_unit_of(double value, const std::array<Scale, kCount>& scales, int digits) {
  const Scale* unit = scales.data();
  for (const Scale& scale : scales)
    if (value * (1 + 5e-6) >= scale.size) unit = &scale;
  int decimals = unit->size > 1 ? 2 : 0;
  for (double size = value / unit->size; digits > 0 && decimals > 0 && size >= std::pow(10, digits - decimals);)
    --decimals;
  const auto parts = static_cast<std::int64_t>(std::pow(10, decimals));
  return [unit = *unit, decimals, parts](double each) {
    const std::int64_t count = std::llround(each / unit.size * static_cast<double>(parts));
    const std::string fraction = decimals == 0 ? "" : fmt::format(".{:0{}}", count % parts, decimals);
    return fmt::format("{}{} {}", record::format_count(count / parts), fraction, unit.name);
  };
}

Text bytes_like(double value) {
  static constexpr std::array<Scale, 4> kScales{{{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}}};
  return in_unit_of(value, kScales, 0);
}

Text duration_like(double nanoseconds) {
  static constexpr std::array<Scale, 4> kScales{{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};
  return in_unit_of(nanoseconds, kScales, 3);
}

Comparison::Row row_of(std::string_view head, double a, double b, const Text& text) {
  Comparison::Row row{.head = head, .a = text(a), .b = text(b), .change = "the same", .share = share_of(a, b)};
  if (row.a != row.b) row.change = with_sign(b > a, text(std::abs(b - a)));
  return row;
}

// A difference that rounding hides gets a smaller unit.
Comparison::Row bytes_row(std::string_view head, Bytes bytes_a, Bytes bytes_b) {
  const auto a = static_cast<double>(bytes_a), b = static_cast<double>(bytes_b);
  Comparison::Row row = row_of(head, a, b, bytes_like(std::max(a, b)));
  if (row.a == row.b && bytes_a != bytes_b)
    row.change = with_sign(b > a, record::format_bytes(std::abs(bytes_b - bytes_a)));
  return row;
}

std::string spread_of(const Quantity& quantity, const Text& text) {
  if (!quantity.low || !quantity.high) return quantity.samples == 1 ? "of one step" : "";
  return fmt::format("{} to {}, p20 to p80 of {} steps", text(*quantity.low), text(*quantity.high), quantity.samples);
}

// Compares medians. If the ranges from p20 to p80 overlap, the difference is noise.
Comparison::Row steps_row(std::string_view head, const Quantity& a, const Quantity& b, const Text& text) {
  Comparison::Row row = row_of(head, a.value, b.value, text);
  row.spread_a = spread_of(a, text);
  row.spread_b = spread_of(b, text);
  const bool few = std::min(a.samples, b.samples) < kFewestSteps;
  const bool apart = !few && (*a.low > *b.high || *b.low > *a.high);
  if (apart) return row;
  row.told = false;
  row.change = few ? "too few steps to tell" : "within noise";
  row.share.clear();
  return row;
}

std::string rate_text(double bytes_per_second) { return lessons::rate_text(bytes_per_second); }
std::string percent_text(double percent) { return fmt::format("{:.1f} %", percent); }
std::string count_text(double count) { return record::format_count(std::llround(count)); }

Comparison::Row duration_row(const Quantity& a, const Quantity& b) {
  return steps_row(kStepTime, a, b, duration_like(std::max(a.value, b.value)));
}

Comparison::Row speed_row(const Quantity& a, const Quantity& b) { return steps_row(kSpeed, a, b, count_text); }

Comparison::Row loss_row(double a, double b) {
  const double change = b - a;
  // Fused kernels hardly change the loss, so small differences keep one digit.
  const std::string size = std::abs(change) >= 5e-4 || change == 0 ? fmt::format("{:.3f}", std::abs(change))
                                                                   : fmt::format("{:.0e}", std::abs(change));
  return {.head = "Loss, last step",
          .a = fmt::format("{:.3f}", a),
          .b = fmt::format("{:.3f}", b),
          .change = change == 0 ? "the same" : with_sign(change > 0, size)};
}

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
    if (rate_a > 0 && rate_b > 0) comparison.rows.push_back(row_of(link.head, rate_a, rate_b, rate_text));
  }
}

// The first step is a warm-up.
Quantity speed_of(const record::SweepPoint& point) {
  return {.value = point.tokens_per_second,
          .samples = std::max(point.steps - 1, 1),
          .low = point.tokens_per_second_low,
          .high = point.tokens_per_second_high};
}

const record::SweepPoint& last_rung(const record::Recording& ladder) {
  const auto& points = ladder.sweep_points();
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (lessons::completed(*point)) return *point;
  return points.back();
}

// Compares only the ends, because in any order the last rungs have the same switches.
void add_ladders(Comparison& comparison, const record::Recording& a, const record::Recording& b) {
  if (a.sweep_points().empty() || b.sweep_points().empty()) return;
  const record::SweepPoint &first_a = a.sweep_points().front(), &first_b = b.sweep_points().front();
  const record::SweepPoint &last_a = last_rung(a), &last_b = last_rung(b);
  if (first_a.series != "ladder" || first_b.series != "ladder") return;
  const auto add = [&](std::string_view head, const record::SweepPoint& before, const record::SweepPoint& now) {
    const bool whole = lessons::completed(before) && lessons::completed(now);
    if (!whole) return;
    comparison.rows.push_back(bytes_row(head, before.peak.allocated, now.peak.allocated));
  };
  add("First rung", first_a, first_b);
  add("Last rung", last_a, last_b);
  if (last_a.tokens_per_second > 0 && last_b.tokens_per_second > 0)
    comparison.rows.push_back(speed_row(speed_of(last_a), speed_of(last_b)));
  if (last_a.loss && last_b.loss) comparison.rows.push_back(loss_row(*last_a.loss, *last_b.loss));
}

void add_steps(Comparison& comparison, const record::Recording& a, const record::Recording& b) {
  const auto over_both = [&](MetricKind kind, Comparison::Row (*row)(const Quantity&, const Quantity&)) {
    const auto steps_a = over_steps(a, kind), steps_b = over_steps(b, kind);
    if (steps_a && steps_b) comparison.rows.push_back(row(*steps_a, *steps_b));
  };
  over_both(MetricKind::kStepNanoseconds, duration_row);
  over_both(MetricKind::kTokensPerSecond, speed_row);
  const auto loss_a = last_metric(a, MetricKind::kLoss), loss_b = last_metric(b, MetricKind::kLoss);
  if (loss_a && loss_b) comparison.rows.push_back(loss_row(*loss_a, *loss_b));
}

// Times of different machines say nothing about settings.
void leave_out_machines(Comparison& comparison, const record::RunInfo& a, const record::RunInfo& b) {
  if (lessons::comparable(lessons::machine_of(a, {}), lessons::machine_of(b, {}))) return;
  for (Comparison::Row& row : comparison.rows) {
    if (row.head != kStepTime && row.head != kSpeed) continue;
    row.told = false;
    row.change = "other machine";
    row.share.clear();
  }
}

// "A: cancelled, B: out of memory". Such a run did less work, so its lower numbers are no saving.
std::string early_end_of(const record::Recording& a, const record::Recording& b) {
  std::string words;
  for (const auto& [letter, run] : {std::pair("A", &a), std::pair("B", &b)}) {
    if (!run->outcome() || run->outcome()->kind == record::OutcomeKind::kCompleted) continue;
    std::string end(record::key_of(run->outcome()->kind));
    std::ranges::replace(end, '_', ' ');
    words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", letter, end);
  }
  return words;
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
    comparison.rows.push_back(bytes_row("Peak", peak_a, peak_b));
  if (a.peak_reserved() > 0 && b.peak_reserved() > 0)
    comparison.rows.push_back(bytes_row("Reserved", a.peak_reserved(), b.peak_reserved()));
  // A benchmark's steps are repeats, so their times mean nothing.
  if (a.recording().measurements().empty() && b.recording().measurements().empty())
    add_steps(comparison, a.recording(), b.recording());
  add_links(comparison, a.recording(), b.recording());
  add_ladders(comparison, a.recording(), b.recording());
  leave_out_machines(comparison, a.recording().info(), b.recording().info());
  const double error_a = lessons::second_moment_error(a.recording(), true, 2048);
  const double error_b = lessons::second_moment_error(b.recording(), true, 2048);
  if (error_a >= 0 && error_b >= 0)
    comparison.rows.push_back(row_of("Error, dynamic 2,048", error_a, error_b, percent_text));
  comparison.a = settings_unlike(a.recording().info(), b.recording().info());
  comparison.b = settings_unlike(b.recording().info(), a.recording().info());
  comparison.early_end = early_end_of(a.recording(), b.recording());
  if (comparison.early_end.empty()) return comparison;
  for (Comparison::Row& row : comparison.rows) {
    row.change.clear();
    row.share.clear();
  }
  return comparison;
}

}  // namespace headroom::app::page
