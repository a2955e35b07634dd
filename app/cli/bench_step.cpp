// headroom bench step: compares a training step with the sum of its kernels. The step's time comes from an untraced
// run, the kernels' from a traced one.
#include "app/cli/commands/bench.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive.h"
#include "app/cli/output.h"
#include "app/common/session.h"
#include "app/common/settings_json.h"
#include "demos/experiments/demo.h"
#include "demos/record/quantile.h"
#include "lessons/steps/step_work.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

constexpr int kTracedSteps = 15;
constexpr double kKernelsGoal = 1.10;  // step time / kernel time; all our kernels, 1 x 1,024 tokens, no CUDA graph

record::Result<Params> params_for(const BenchOptions& options, bool trace) {
  Params params = fast_step();
  if (auto set = params.set("precision", "bf16"); !set) return set.error();
  const int steps = options.quick ? kQuickSteps : trace ? kTracedSteps : kSteps;
  if (auto set = params.set("steps", std::string_view(std::to_string(steps))); !set) return set.error();
  if (auto set = set_params(params, experiments::training_step().id, options); !set) return set.error();
  if (auto set = params.set("trace", std::string_view(trace ? "on" : "off")); !set) return set.error();
  return params;
}

// Measurements of a trace's complete steps after the warm-up.
struct TracedSteps {
  std::vector<double> kernel_times;
  lessons::StepWork last;
};

TracedSteps traced_steps_of(const record::Recording& recording) {
  TracedSteps steps;
  for (const std::int32_t step : lessons::traced_steps(recording)) {
    if (step < kWarmUpSteps) continue;
    steps.last = lessons::work_of(lessons::spans_of(recording, {.step = step}));
    steps.kernel_times.push_back(static_cast<double>(steps.last.kernel_time));
  }
  return steps;
}

record::Result<std::shared_ptr<const record::Recording>> run_step(backend::Backend& engine, const BenchOptions& options,
                                                                  bool trace) {
  auto params = params_for(options, trace);
  if (!params) return params.error();
  backend::RunRequest request = run_request(experiments::training_step().id, std::move(params).value());
  request.record = trace;
  return drive_to_end(engine, request, options.time_limit);
}

}  // namespace

record::Status check_steps(const Params& params) {
  if (params.integer("steps") > kWarmUpSteps) return record::Ok{};
  return Error{fmt::format("Too few steps: the first {} only warm up. Set steps to {} or more.", kWarmUpSteps,
                           kWarmUpSteps + 1)};
}

std::vector<double> step_times(const record::Recording& recording) {
  std::vector<double> times;
  for (const record::MetricSample& sample : recording.metrics())
    if (sample.kind == record::MetricKind::kStepNanoseconds && sample.step >= kWarmUpSteps)
      times.push_back(sample.value);
  return times;
}

std::string duration(double nanoseconds) { return record::format_duration(std::llround(nanoseconds)); }

Params fast_step() {
  Params params(experiments::training_step().schema);
  for (const char* assignment : {"model=llama-3.2-1b", "batch=1", "seq=1024"}) (void)params.set_assignment(assignment);
  experiments::use_own_kernels(params);
  return params;
}

record::Result<ExitCode> bench_step(const BenchOptions& options) {
  const auto params = params_for(options, false);
  if (!params) return params.error();
  if (auto enough = check_steps(params.value()); !enough) return enough.error();
  Session session(choose_engine(options.engine));
  const InterruptGuard guard;
  const auto engine = ready_engine(session, params.value());
  if (!engine) return engine.error();
  const auto plain = run_step(*engine.value(), options, false);
  if (!plain) return plain.error();
  const auto traced = run_step(*engine.value(), options, true);
  if (!traced) return traced.error();
  const record::Recording& trace = *traced.value();
  if (const std::string why = lessons::why_not_traced(trace); !why.empty()) return Error{why, ErrorKind::kRefused};
  if (options.record)
    if (auto written = trace.write(*options.record); !written) return written.error();

  const record::Quantiles step = record::quantiles_of(step_times(*plain.value()));
  const TracedSteps steps = traced_steps_of(trace);
  const record::Quantiles kernels = record::quantiles_of(steps.kernel_times);
  if (step.samples == 0 || kernels.samples == 0 || kernels.median <= 0)
    return Error{"The run recorded no step times, so there is nothing to compare.", ErrorKind::kEngine};
  const double ratio = step.median / kernels.median;
  const auto entry = [](const record::Quantiles& q) {
    return nlohmann::json{{"median_ns", q.median}, {"p20_ns", q.low}, {"p80_ns", q.high}, {"samples", q.samples}};
  };
  if (options.json) {
    const nlohmann::json document = {
        {"params", settings_json(trace.info().demo, trace.info().params, trace.info().provenance)},
        {"provenance", trace.info().provenance},
        {"step", entry(step)},
        {"kernels", entry(kernels)},
        {"launches", steps.last.launches},
        {"idle_ns", steps.last.idle},
        {"bytes", steps.last.bytes},
        {"ratio", ratio},
        {"goal", kKernelsGoal}};
    put_json(document);
    return ExitCode::kDone;
  }
  const auto line = [](std::string_view what, const record::Quantiles& q) {
    return fmt::format("  {:<28} {:>10}   ({} to {}, {} steps)\n", what, duration(q.median), duration(q.low),
                       duration(q.high), q.samples);
  };
  // The goal is for GPUs, which may wait for launches.
  const std::string goal =
      trace.info().device == record::DeviceKind::kGpu
          ? fmt::format("   (goal: at most {:.2f}: {})", kKernelsGoal, ratio <= kKernelsGoal ? "reached" : "missed")
          : std::string();
  put(line("step, untraced", step) + line("sum of its traced kernels", kernels) +
      fmt::format("  {:<28} {:>10}{}\n", "step / kernels", fmt::format("{:.3f}", ratio), goal) +
      fmt::format("  {:<28} {}\n", "of the last traced step",
                  lessons::work_text(steps.last, lessons::time_unit(static_cast<double>(steps.last.length)))));
  return ExitCode::kDone;
}

}  // namespace headroom::app
