#include "lessons/steps/step_difference.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "lessons/names.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Ledger;
using record::Phase;
using record::StepRange;

// Highest total in each phase; empty for phases that the step lacks.
using PhasePeaks = std::array<std::optional<Bytes>, record::kNumPhases>;

PhasePeaks phase_peaks(const Ledger& run, const StepRange& step) {
  PhasePeaks peaks{};
  const std::vector<record::Mark>& marks = run.recording().marks();
  for (std::size_t i = step.first_mark; i < step.last_mark; ++i) {
    const std::uint64_t end = i + 1 < step.last_mark ? marks[i + 1].event_index : step.last;
    std::optional<Bytes>& peak = peaks[static_cast<std::size_t>(marks[i].phase)];
    peak = std::max(peak.value_or(0), run.extremes(marks[i].event_index, end).high.allocated);
  }
  return peaks;
}

std::vector<DifferenceRow> rows_of(const PhasePeaks& run, const PhasePeaks& other) {
  std::vector<DifferenceRow> rows;
  for (std::size_t i = 0; i < run.size(); ++i)
    if (run[i] || other[i])
      rows.push_back({.name = capitalised(record::label_of(static_cast<Phase>(i))),
                      .other = other[i].value_or(0),
                      .run = run[i].value_or(0)});
  return rows;
}

std::vector<DifferenceRow> rows_of(const record::ByCategory& run, const record::ByCategory& other) {
  std::vector<DifferenceRow> rows;
  for (std::size_t k = 0; k < run.size(); ++k)
    if (const auto category = static_cast<record::Category>(k); run[k] != 0 || other[k] != 0)
      rows.push_back({capitalised(record::label_of(category)), category, other[k], run[k]});
  return rows;
}

// Bytes by layer, of the other run and the run.
using LayerBytes = std::map<std::uint16_t, std::pair<Bytes, Bytes>>;

std::vector<DifferenceRow> rows_of(const LayerBytes& layers) {
  std::vector<DifferenceRow> rows;
  for (auto first = layers.begin(); first != layers.end();) {
    auto last = first;
    for (auto next = std::next(first); next != layers.end() && next->second == first->second; ++next) last = next;
    const bool outside = last->first == record::kNoLayer && last != first;
    if (outside) --last;  // not one of several layers
    std::string name =
        first->first == record::kNoLayer ? "Outside the layers" : capitalised(layers_text(first->first, last->first));
    if (last != first) name += ", each";
    rows.push_back({.name = std::move(name), .other = first->second.first, .run = first->second.second});
    first = std::next(last);
  }
  return rows;
}

}  // namespace

StepDifference step_difference(const Ledger& run, const StepRange& step, const Ledger& other,
                               const StepRange& other_step) {
  const record::Peak peak = run.peak(step.first, step.last), other_peak = other.peak(other_step.first, other_step.last);
  LayerBytes layers;
  for (const record::Storage* each : run.alive(peak.event)) layers[each->layer].second += each->block;
  for (const record::Storage* each : other.alive(other_peak.event)) layers[each->layer].first += each->block;
  return {.pairs = PairedEvents({run, step.first, step.last}, {other, other_step.first, other_step.last}),
          .peak = {.name = "Peak", .other = other_peak.totals.allocated, .run = peak.totals.allocated},
          .kinds = rows_of(peak.totals.by_category, other_peak.totals.by_category),
          .phases = rows_of(phase_peaks(run, step), phase_peaks(other, other_step)),
          .layers = rows_of(layers)};
}

std::string difference_words(const StepDifference& difference) {
  const PairedEvents& pairs = difference.pairs;
  const std::string events = record::format_count(static_cast<std::int64_t>(pairs.size()));
  if (pairs.equal()) return fmt::format("Equal to the byte: {} events", events);
  if (pairs.parting()) return fmt::format("{} events are equal before the first that differs", events);
  return fmt::format("All {} events are equal, but the kinds of memory before the step differ", events);
}

}  // namespace headroom::lessons
