// Spreads events over a step's bound.
#include "demos/predict/time/bound_times.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "demos/predict/allocator/rewrite.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/time/step_bound.h"
#include "demos/predict/time/step_flops.h"
#include "demos/record/find.h"

namespace headroom::predict {

namespace {

using record::Mark;
using record::MemEvent;
using record::Nanoseconds;
using record::Phase;

constexpr Nanoseconds kOutside = 1000;  // ns per event outside steps

constexpr std::size_t at(Phase phase) { return static_cast<std::size_t>(phase); }

Phase phase_of(const StepProduct& product, const StepSettings& step) {
  const bool head = product.layer == kHeadProduct;
  if (product.kind == ProductKind::kOutput) return head ? Phase::kLoss : Phase::kForward;
  return head && loss_in_chunks(step) ? Phase::kLoss : Phase::kBackward;
}

// The events between two marks.
struct Stretch {
  std::uint64_t first = 0, last = 0;  // events
  std::int32_t step = -1;
  Phase phase = Phase::kSetup;
  Nanoseconds begin = 0, length = 0;

  double weight() const { return static_cast<double>(last - first + 1); }
};

std::vector<Stretch> stretches_of(const record::Recording& run) {
  std::vector<Stretch> all{{.first = 0, .last = run.events().size()}};
  for (const Mark& mark : run.marks()) {
    all.back().last = mark.event_index;
    all.push_back({.first = mark.event_index, .last = run.events().size(), .step = mark.step, .phase = mark.phase});
  }
  return all;
}

}  // namespace

std::optional<std::array<double, record::kNumPhases>> bound_seconds(const StepSettings& step, const Card& card) {
  const std::optional<double> peak = head_peak(step, card), in_layers = products_peak(step, card);
  if (!peak || !in_layers || !card.bandwidth) return std::nullopt;
  const StepBound bound = step_bound(step);
  std::array<double, record::kNumPhases> seconds{};
  for (const StepProduct& product : bound.products) {
    const double once = product.flops() / (product.layer == kHeadProduct ? *peak : *in_layers);
    seconds[at(phase_of(product, step))] += once * static_cast<double>(product.times - product.again);
    seconds[at(Phase::kRecompute)] += once * static_cast<double>(product.again);
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    seconds[i] += static_cast<double>(bound.bytes[i]) / *card.bandwidth;
    if (i != at(Phase::kOptimizer)) seconds[i] *= static_cast<double>(step.micro_batches);
  }
  seconds[at(Phase::kEvaluation)] = seconds[at(Phase::kForward)] + seconds[at(Phase::kLoss)];
  return seconds;
}

record::Recording with_bound_times(record::Recording prediction, const StepSettings& step, const Card& card) {
  const auto seconds = bound_seconds(step, card);
  if (!seconds) return prediction;
  std::vector<Stretch> stretches = stretches_of(prediction);
  std::map<std::pair<std::int32_t, Phase>, double> weights;
  for (const Stretch& each : stretches) weights[{each.step, each.phase}] += each.weight();
  Nanoseconds now = 0;
  for (Stretch& each : stretches) {
    const double whole = (*seconds)[at(each.phase)] * 1e9;
    const bool bounded = each.step >= 0 && whole > 0;
    each.begin = now;
    each.length = bounded ? std::llround(whole * each.weight() / weights[{each.step, each.phase}])
                          : kOutside * static_cast<Nanoseconds>(each.weight());
    now += each.length;
  }
  std::size_t stretch = 0;
  std::uint64_t index = 0;
  const auto place = [&](MemEvent event, std::vector<MemEvent>& events) {
    while (index >= stretches[stretch].last) ++stretch;
    const Stretch& in = stretches[stretch];
    event.time = in.begin +
                 std::llround(static_cast<double>(in.length) * static_cast<double>(index - in.first + 1) / in.weight());
    events.push_back(event);
    ++index;
    return true;
  };
  std::size_t mark = 0;
  record::Recording timed = rewritten(prediction, place, [&](Mark& each) {
    each.host_time = stretches[++mark].begin;
    if (each.device_time != record::kPending) each.device_time = each.host_time;
  });
  record::RunInfo info = timed.info();
  info.provenance[std::string(kBoundFact)] = card.name;
  timed.set_info(std::move(info));
  return timed;
}

const Card* bound_card() { return record::find_in(cards(), kBoundCard, &Card::name); }

}  // namespace headroom::predict
