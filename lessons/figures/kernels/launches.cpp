// Launches, kernel time and bytes of a step by purpose, fused and unfused side by side.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "demos/llama/operators.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"
#include "lessons/steps/step_work.h"

namespace headroom::lessons {
namespace {

using llama::Op;
using record::KernelSpan;
using record::Recording;

constexpr std::array<record::Choice, 4> kLaunchPasses{{
    {"step", "the whole step"},
    {"forward", "forward"},
    {"backward", "backward"},
    {"optimizer", "optimizer"},
}};
constexpr std::array kLaunchesSchema{
    experiments::choice("part", "Show", "The whole step, or one of its phases", kLaunchPasses, "step"),
};

// Operators of one purpose, in display order.
struct Group {
  std::string_view label;
  std::array<std::optional<Op>, 9> operators;
};
constexpr std::array kGroups{
    Group{"RMSNorm", {Op::kAttentionNorm, Op::kMlpNorm, Op::kFinalNorm}},
    Group{"residual", {Op::kAttentionResidual, Op::kMlpResidual}},
    Group{"RoPE", {Op::kRope, Op::kRopeTables}},
    Group{"SwiGLU", {Op::kSilu, Op::kProduct}},
    Group{"loss", {Op::kLossCast, Op::kLogSoftmax, Op::kNll}},
    Group{"embedding", {Op::kEmbedding}},
    Group{"AdamW", {Op::kAdamW, Op::kFirstMoment, Op::kSecondMoment}},
    Group{"attention", {Op::kScores, Op::kRepeatKv}},
    Group{"linear layers",
          {Op::kQProj, Op::kKProj, Op::kVProj, Op::kOProj, Op::kGateProj, Op::kUpProj, Op::kDownProj, Op::kLmHead,
           Op::kBlasWorkspace}},
};
constexpr std::size_t kOther = kGroups.size(), kOptimizer = 6;
static_assert(kGroups[kOptimizer].label == "AdamW");

std::size_t group_of(const Recording& recording, const KernelSpan& span) {
  if (span.phase == record::Phase::kOptimizer) return kOptimizer;
  const llama::Operator* const known = llama::find_operator(recording.op_name(span.op));
  if (known == nullptr) return kOther;
  const auto has = [&](const Group& group) {
    return std::ranges::find(group.operators, known->op) != group.operators.end();
  };
  return static_cast<std::size_t>(std::ranges::find_if(kGroups, has) - kGroups.begin());
}

using Works = std::array<StepWork, kGroups.size() + 1>;

Works works_of(const Recording& recording, const record::Params& params) {
  SpanFilter filter{.step = last_traced_step(recording)};
  for (int phase = 0; phase < record::kNumPhases; ++phase)
    if (record::key_of(static_cast<record::Phase>(phase)) == params.text("part")) filter.phase = phase;
  std::array<std::vector<KernelSpan>, kGroups.size() + 1> spans;
  for (const KernelSpan& span : spans_of(recording, filter)) spans[group_of(recording, span)].push_back(span);
  Works works;
  for (std::size_t i = 0; i < spans.size(); ++i) works[i] = work_of(spans[i]);
  return works;
}

double launches_of(const StepWork& work) { return static_cast<double>(work.launches); }
double time_of(const StepWork& work) { return static_cast<double>(work.kernel_time); }
double bytes_of(const StepWork& work) { return static_cast<double>(work.bytes); }

struct Quantity {
  std::string_view title, title_on_cpu;
  AxisUnit unit;
  double (*value)(const StepWork& work);
};
constexpr std::array<Quantity, 3> kQuantities{{
    {"Launches", "Operators", AxisUnit::kEvents, &launches_of},
    {"Kernel time", "Time of the operators", AxisUnit::kNanoseconds, &time_of},
    {"Bytes that must move", "Bytes that must move", AxisUnit::kBytes, &bytes_of},
}};

std::string value_text(const Quantity& quantity, double value, const ShownUnit& unit) {
  if (quantity.unit == AxisUnit::kBytes) return bytes_text(static_cast<record::Bytes>(value), unit);
  if (quantity.unit == AxisUnit::kNanoseconds) return amount_text(value, unit);
  return record::format_count(static_cast<std::int64_t>(value));
}

// Unit of the largest shown value of both runs.
ShownUnit unit_of(const Quantity& quantity, const Works& run, const Works* baseline) {
  double largest = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    largest = std::max(largest, quantity.value(run[i]));
    if (baseline != nullptr) largest = std::max(largest, quantity.value((*baseline)[i]));
  }
  return unit_for(quantity.unit, largest);
}

ChartSeries series_of(const Quantity& quantity, const ShownUnit& unit, const Works& works,
                      const std::vector<std::size_t>& shown, std::string label, SeriesKind kind) {
  ChartSeries series{.label = std::move(label), .kind = kind};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double value = quantity.value(works[shown[i]]);
    const std::string_view group = shown[i] == kOther ? "other" : kGroups[shown[i]].label;
    const std::string text = value_text(quantity, value, unit);
    series.points.push_back(
        exact_point(static_cast<double>(i), value,
                    fmt::format("{}{}{}: {}", group, series.label.empty() ? "" : ", ", series.label, text), text));
  }
  return series;
}

void fill(FigureData& figure, const Works& run, const Works* baseline) {
  std::vector<std::size_t> shown;
  bool on_cpu = false;
  for (std::size_t i = 0; i < run.size(); ++i) {
    on_cpu = on_cpu || run[i].on_cpu;
    if (run[i].launches > 0 || (baseline != nullptr && (*baseline)[i].launches > 0)) shown.push_back(i);
  }
  for (const Quantity& quantity : kQuantities) {
    Chart chart;
    chart.title = on_cpu ? quantity.title_on_cpu : quantity.title;
    chart.x = category_axis(shown.size());
    chart.y = {.unit = quantity.unit, .shown = unit_of(quantity, run, baseline)};
    for (const std::size_t i : shown) chart.categories.emplace_back(i == kOther ? "other" : kGroups[i].label);
    chart.bars = true;
    if (baseline != nullptr)
      chart.series.push_back(series_of(quantity, *chart.y.shown, *baseline, shown, "A", SeriesKind::kEager));
    chart.series.push_back(
        series_of(quantity, *chart.y.shown, run, shown, baseline != nullptr ? "B" : "", SeriesKind::kFused));
    fit_y(chart);
    figure.add(std::move(chart));
  }
}

void add_launches_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const Recording& recording = input.run->recording();
  set_step(figure.head, last_traced_step(recording));
  if (const std::string why = why_not_traced(recording); !why.empty()) return figure.leave_empty(why);
  const Works works = works_of(recording, params);
  if (std::ranges::all_of(works, [](const StepWork& work) { return work.launches == 0; })) {
    figure.head.empty_reason = "This part of the step launched nothing.";
    return;
  }
  const bool baseline = input.baseline != nullptr && why_not_traced(input.baseline->recording()).empty();
  const Works other = baseline ? works_of(input.baseline->recording(), params) : Works{};
  fill(figure, works, baseline ? &other : nullptr);
}

}  // namespace

extern const Figure kLaunches;
constinit const Figure kLaunches{
    .id = "launches",
    .title = "Launches, time and bytes of one step",
    .caption = "What a step launches for each part of the model, how long it takes and how much it moves",
    .schema = kLaunchesSchema,
    .add_panels = add_launches_panels,
};

}  // namespace headroom::lessons
