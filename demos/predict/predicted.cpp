// Repeats steps and micro-batches, adds the requests of GPU libraries and times, places blocks.
#include "demos/predict/predicted.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "demos/predict/allocator/capped.h"
#include "demos/predict/allocator/more_micro_batches.h"
#include "demos/predict/allocator/more_steps.h"
#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/step_settings.h"
#include "demos/predict/time/bound_times.h"

namespace headroom::predict {

using record::DeviceKind;
using record::Params;
using record::ParamValue;
using record::Recording;

namespace {

constexpr int kShownSteps = 3;  // the most steps that the engine plans

int shown_steps(const StepSettings& step) { return std::min(step.steps, kShownSteps); }

// `trace` with all steps of `settings`, and with few micro-batches if `traced` has fewer than `settings`.
std::optional<Recording> repeated(Recording trace, const Params& traced, const Params& settings) {
  if (traced == settings) return trace;
  record::RunInfo info = trace.info();
  info.params = settings.to_map();
  const StepSettings less = step_settings(traced), step = step_settings(settings);
  std::optional<Recording> all = std::move(trace);
  if (less.steps < shown_steps(step)) all = with_more_steps(*std::move(all), shown_steps(step));
  if (all && less.micro_batches < step.micro_batches) all = few_micro_batches(*all, info);
  if (all) all->set_info(std::move(info));
  return all;
}

}  // namespace

Params traced_settings(Params settings) {
  const StepSettings step = step_settings(settings);
  if (const int traced = traced_steps(step); traced < shown_steps(step))
    (void)settings.set("steps", ParamValue(std::int64_t{traced}));
  (void)settings.set(kMicroBatches, ParamValue(traced_micro_batches(step)));
  return settings;
}

std::optional<PredictedStep> predicted(const Recording& trace, const Params& traced, const Params& settings,
                                       const PredictOptions& options) {
  std::optional<Recording> run = repeated(trace, traced, settings);
  if (!run) return std::nullopt;
  const bool gpu = run->info().device == DeviceKind::kGpu;  // a CPU's trace has all requests
  if (gpu) run = with_gpu_extras(*run, settings.schema());
  if (traced == settings || !options.few_micro_batches) {
    run = with_micro_batches(*std::move(run));
    if (gpu && options.card != nullptr) {
      const StepSettings step = settings_of(run->info(), settings.schema());
      run = with_bound_times(*std::move(run), step, *options.card);
    }
  }
  auto requests = std::make_shared<const Recording>(*std::move(run));
  auto recording = under_cap(requests);
  return PredictedStep{.requests = std::move(requests), .recording = std::move(recording)};
}

std::shared_ptr<const Recording> under_cap(const std::shared_ptr<const Recording>& requests) {
  const record::RunInfo& info = requests->info();
  if (info.device == DeviceKind::kGpu)
    return std::make_shared<const Recording>(placed_until_alike(*requests, info.cap));
  return info.cap > 0 ? std::make_shared<const Recording>(capped(*requests, info.cap)) : requests;
}

}  // namespace headroom::predict
