// The right answers of the pages' questions. A number in a page's question is one of these, measured, never written down.
#include "lessons/pages/answers.h"

#include <algorithm>
#include <array>

#include "lessons/bench.h"
#include "lessons/moment_errors.h"
#include "lessons/sweep.h"

namespace headroom::lessons {

namespace {

// The peak of the last step, in bytes. A run that ended before a step was whole, out of memory included, has no answer.
double peak_of_step(const record::Ledger& run) {
  const auto step = record::last_whole_step(run.recording());
  return step ? static_cast<double>(run.peak(step->first, step->last).totals.allocated) : -1;
}

// What the eager RMSNorm takes beside its inputs, forward and backward, at the widest shape of the run, in bytes.
double eager_memory(const record::Ledger& run) {
  const Measurement* widest = nullptr;
  for (const Measurement& row : run.recording().measurements()) {
    if (row.panel != "rms_norm" || row.variant != "eager" || row.pass != "full" || row.extra_memory < 0) continue;
    if (widest == nullptr || row.width > widest->width) widest = &row;
  }
  return widest == nullptr ? -1 : static_cast<double>(widest->extra_memory);
}

// Percent, of the second moment in dynamic levels with a scale for each 2,048 numbers.
double error_of_dynamic(const record::Ledger& run) { return second_moment_error(run.recording(), true, 2048); }

// Bytes per second from the host's page-locked memory to the GPU; of a machine without one, from a file.
double host_link(const record::Ledger& run) {
  for (const std::string_view variant : {"to_device", "file_read"})
    if (const double rate = link_rate(run.recording(), variant); rate > 0) return rate;
  return -1;
}

// The peak of the last rung that goes with those above it; of a ladder that did not get to its end, none.
double end_of_ladder(const record::Ledger& run) {
  const auto& outcome = run.recording().outcome();
  if (!outcome || outcome->kind != record::OutcomeKind::kCompleted) return -1;
  const auto& points = run.recording().sweep_points();
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (point->series == "ladder" && completed(*point)) return static_cast<double>(point->peak_allocated);
  return -1;
}

constexpr std::array kAnswers{
    Answer{"eager_memory", AxisUnit::kBytes, eager_memory},
    Answer{"end_of_ladder", AxisUnit::kBytes, end_of_ladder},
    Answer{"error_of_dynamic", AxisUnit::kPercent, error_of_dynamic},
    Answer{"host_link", AxisUnit::kBytesPerSecond, host_link},
    Answer{"peak_of_step", AxisUnit::kBytes, peak_of_step},
};

}  // namespace

std::span<const Answer> answers() { return kAnswers; }

const Answer* find_answer(std::string_view name) {
  const auto found =
      std::find_if(kAnswers.begin(), kAnswers.end(), [&](const Answer& each) { return each.name == name; });
  return found == kAnswers.end() ? nullptr : &*found;
}

}  // namespace headroom::lessons
