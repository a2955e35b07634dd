// Aligns phases.
#include "demos/record/phase_map.h"

#include <algorithm>

namespace headroom::record {

namespace {

// The spans excluding recompute, which lies inside the backward pass.
std::vector<PhaseSpan> in_turn(std::span<const PhaseSpan> spans) {
  std::vector<PhaseSpan> turn;
  std::ranges::copy_if(spans, std::back_inserter(turn),
                       [](const PhaseSpan& span) { return span.phase != Phase::kRecompute; });
  return turn;
}

const PhaseSpan* optimizer_of(const std::vector<PhaseSpan>& spans) {
  const auto found = std::ranges::find(spans, Phase::kOptimizer, &PhaseSpan::phase);
  return found == spans.end() ? nullptr : &*found;
}

}  // namespace

PhaseMap::PhaseMap(std::span<const PhaseSpan> from, double from_end, std::span<const PhaseSpan> to, double to_end,
                   std::pair<double, double> start)
    : knots_{start} {
  const std::vector<PhaseSpan> ours = in_turn(from), theirs = in_turn(to);
  const bool alike = std::ranges::equal(ours, theirs, {}, &PhaseSpan::phase, &PhaseSpan::phase);
  const auto add = [this](double x, double y) {
    if (x > knots_.back().first && y >= knots_.back().second) knots_.emplace_back(x, y);
  };
  if (alike) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      add(ours[i].begin, theirs[i].begin);
      add(ours[i].end, theirs[i].end);
    }
  } else if (const PhaseSpan* a = optimizer_of(ours), *b = optimizer_of(theirs); a != nullptr && b != nullptr) {
    add(a->begin, b->begin);
  }
  add(from_end, to_end);
}

double PhaseMap::operator()(double position) const {
  const auto behind = std::ranges::upper_bound(knots_, position, {}, &std::pair<double, double>::first);
  if (behind == knots_.begin()) return knots_.front().second;
  if (behind == knots_.end()) return knots_.back().second;
  const auto& [x0, y0] = *(behind - 1);
  const auto& [x1, y1] = *behind;
  return y0 + (y1 - y0) * (position - x0) / (x1 - x0);
}

}  // namespace headroom::record
