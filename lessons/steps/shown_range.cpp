#include "lessons/steps/shown_range.h"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::lessons {
namespace {

bool goes_on(const record::Recording& recording) {
  return recording.info().source == record::Source::kLive && !recording.outcome();
}

record::StepRange whole_run(const record::Recording& recording) {
  return {.first = 0, .last = recording.events().size(), .first_mark = 0, .last_mark = recording.marks().size()};
}

ShownRange one_step(const std::vector<record::StepRange>& steps, std::int64_t number, bool live) {
  const auto found = std::ranges::find(steps, number, &record::StepRange::step);
  if (found != steps.end()) return {*found, live && !found->complete, {}};
  if (steps.empty()) return {{}, live, "This run has no training step yet."};
  return {
      {},
      live,
      fmt::format("This run has no step {}: its steps are {} to {}.", number, steps.front().step, steps.back().step)};
}

}  // namespace

const record::OutOfMemoryFacts* failure_at_end(const record::Recording& run, std::uint64_t last) {
  const auto& outcome = run.outcome();
  return outcome && outcome->out_of_memory && last == run.events().size() ? &*outcome->out_of_memory : nullptr;
}

ShownRange shown_range(const record::Recording& recording, const record::Params& params) {
  const bool live = goes_on(recording);
  if (recording.events().empty())
    return {{}, live, live ? "Waiting for the first allocation." : "No allocation was recorded."};
  const std::string& show = params.text("show");
  if (show == "run") return {whole_run(recording), live, {}};
  const std::vector<record::StepRange> steps = record::steps_of(recording);
  if (show == "step") return one_step(steps, params.integer("step"), live);
  if (steps.empty()) return {whole_run(recording), live, {}};
  const bool ran_out = recording.outcome() && recording.outcome()->kind == record::OutcomeKind::kOutOfMemory;
  if (live || ran_out) return {steps.back(), live && !steps.back().complete, {}};
  return {record::last_whole_step(recording).value_or(steps.back()), false, {}};
}

}  // namespace headroom::lessons
