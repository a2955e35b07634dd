// Right answers are measured, never written down.
#include "lessons/pages/answers.h"

#include <algorithm>
#include <array>

#include "demos/predict/forms/closed_form.h"
#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/forms/ring.h"
#include "demos/predict/forms/trained_weights.h"
#include "demos/predict/optimizers.h"
#include "demos/record/find.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/moment_errors.h"
#include "lessons/measurements/sweep.h"

namespace headroom::lessons {

namespace {

// Peak of the last whole step, in bytes. A run without a whole step has no answer, even if it ran out of memory.
double peak_of_step(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return step ? static_cast<double>(run.peak(step->first, step->last).totals.allocated) : -1;
}

// Bytes of the eager RMSNorm beyond its inputs, forward and backward, at the run's widest shape.
double eager_memory(const record::Ledger& run) {
  const Measurement* widest = nullptr;
  for (const Measurement& row : run.recording().measurements()) {
    if (row.panel != "rms_norm" || row.variant != "eager" || row.pass != "full" || row.extra_memory < 0) continue;
    if (widest == nullptr || row.width > widest->width) widest = &row;
  }
  return widest == nullptr ? -1 : static_cast<double>(widest->extra_memory);
}

// Percent error of the second moment in dynamic levels, 2,048 numbers per scale.
double error_of_dynamic(const record::Ledger& run) { return second_moment_error(run.recording(), true, 2048); }

// Bytes per second from page-locked host memory to the GPU; without a GPU, from a file.
double host_link(const record::Ledger& run) {
  for (const std::string_view variant : {"to_device", "file_read"})
    if (const double rate = link_rate(run.recording(), variant); rate > 0) return rate;
  return -1;
}

// Peak of the last completed rung that builds on the rungs above; none if the ladder did not complete.
double end_of_ladder(const record::Ledger& run) {
  const auto& outcome = run.recording().outcome();
  if (!outcome || outcome->kind != record::OutcomeKind::kCompleted) return -1;
  const auto& points = run.recording().sweep_points();
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (point->series == "ladder" && completed(*point)) return static_cast<double>(point->peak.allocated);
  return -1;
}

// The highest moment by closed form; negative if a part is left out, which makes it too low.
double peak_by_formula(const predict::StepSettings& step) {
  const predict::ClosedForm form = predict::closed_form(step);
  return form.left_out.empty() ? static_cast<double>(record::total(form.peak().bytes)) : -1;
}

// Weights, gradients and optimizer state of one rank at the end of backward, if all are on the GPU and trained. For 1B
// in bf16_mixed: 16 · P bytes.
double model_state(const predict::StepSettings& step) {
  if (step.adapters.kind != predict::AdapterKind::kOff || step.offload.parameters ||
      step.offload.state != predict::StateOffload::kOff)
    return -1;
  const auto held = [&](predict::Zero what) {
    return step.parallel.shares(what) ? predict::updated_parameters(step) : llama::num_parameters(step.model);
  };
  const std::int64_t elements = held(predict::Zero::kWeights) + held(predict::Zero::kGradients);
  return static_cast<double>(step.element_bytes() * elements + predict::optimizer_state_bytes(step));
}

// Bytes that each rank sends per step, without the few of the loss and the norm; negative if it sends none.
double sent_per_step(const predict::StepSettings& step) {
  const record::Bytes sent = predict::rank_traffic(step).sum();
  return sent > 0 ? static_cast<double>(sent) : -1;
}

// Bytes that each rank sends for one sum.
double sent_in_ring(const record::Params& ring) {
  const predict::SumCost cost =
      predict::sum_cost(predict::SumWay::kRing, ring.integer("bytes"), static_cast<int>(ring.integer("ranks")), {});
  return static_cast<double>(cost.sent);
}

constexpr std::array kAnswers{
    Answer{"eager_memory", AxisUnit::kBytes, eager_memory},
    Answer{"end_of_ladder", AxisUnit::kBytes, end_of_ladder},
    Answer{"error_of_dynamic", AxisUnit::kPercent, error_of_dynamic},
    Answer{"host_link", AxisUnit::kBytesPerSecond, host_link},
    Answer{"model_state", AxisUnit::kBytes, nullptr, model_state},
    Answer{"peak_of_step", AxisUnit::kBytes, peak_of_step, peak_by_formula},
    Answer{"sent_in_ring", AxisUnit::kBytes, nullptr, nullptr, sent_in_ring, "ring"},
    Answer{"sent_per_step", AxisUnit::kBytes, nullptr, sent_per_step},
};

}  // namespace

std::span<const Answer> answers() { return kAnswers; }

const Answer* find_answer(std::string_view name) { return record::find_in(kAnswers, name, &Answer::name); }

}  // namespace headroom::lessons
