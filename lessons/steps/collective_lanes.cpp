// Draws collectives as boxes.
#include "lessons/steps/collective_lanes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lessons/params.h"

namespace headroom::lessons {

using record::Collective;
using record::Recording;

namespace {

// "gather"
std::string_view short_name(record::CollectiveKind kind) {
  if (is_sum(kind)) return "sum";
  return kind == record::CollectiveKind::kAllGather ? "gather" : record::label_of(kind);
}

std::string tip_of(const Collective& each, const KernelUnits& units) {
  std::string tip(record::label_of(each.kind));
  if (each.layer != record::kNoLayer) tip += fmt::format(", layer {}", each.layer);
  const auto time = static_cast<double>(each.end - each.begin);
  tip += fmt::format(", {}: {}, {}", record::label_of(each.phase), bytes_text(each.bytes, units.bytes),
                     amount_text(time, units.time));
  if (time > 0)
    tip +=
        fmt::format(", {} sent", amount_text(static_cast<double>(record::sent_bytes(each)) / time * 1e9, units.rate));
  return tip;
}

TimeBox box_of(const Collective& each, double shift, const KernelUnits& units) {
  std::string label(short_name(each.kind));
  if (each.layer != record::kNoLayer) label += fmt::format(" {}", each.layer);
  return {.begin = static_cast<double>(each.begin) + shift,
          .end = static_cast<double>(each.end) + shift,
          .work = is_sum(each.kind) ? Work::kSum : Work::kGather,
          .bytes = each.bytes,
          .label = std::move(label),
          .tip = tip_of(each, units)};
}

std::string note_of(const Recording& run, std::int32_t step) {
  const record::CollectiveSums sums = record::sums_of(run.collectives(), step);
  return fmt::format("{} collectives send {} and take {}", sums.count, record::format_bytes(sums.sent),
                     record::format_duration(sums.time));
}

}  // namespace

bool is_sum(record::CollectiveKind kind) {
  return kind == record::CollectiveKind::kAllReduce || kind == record::CollectiveKind::kReduceScatter;
}

double clock_shift(const Recording& rank, const Recording& shown, record::Nanoseconds origin, std::int32_t step) {
  if (&rank == &shown) return -static_cast<double>(origin);
  const record::Nanoseconds a = shown.info().clock_start, b = rank.info().clock_start;
  if (a != 0 && b != 0) return static_cast<double>(b - a - origin);
  for (const record::StepRange& its : record::steps_of(rank))
    if (its.step == step && its.first_mark < rank.marks().size())
      return -static_cast<double>(rank.marks()[its.first_mark].device_time);
  return -static_cast<double>(origin);
}

double rank_shift(const Recording& rank, const Recording& shown, const record::StepRange& range,
                  record::TimeAxis axis) {
  const record::Mark& mark = shown.marks()[range.first_mark];
  return clock_shift(rank, shown, axis == record::TimeAxis::kHost ? mark.host_time : mark.device_time, range.step);
}

Lane collective_lane(const Recording& rank, const Recording& shown, const record::StepRange& range,
                     record::TimeAxis axis, const Axis& x, const KernelUnits& units) {
  const double shift = rank_shift(rank, shown, range, axis);
  Lane lane;
  for (const Collective& each : rank.collectives()) {
    if (each.step != range.step) continue;
    TimeBox box = box_of(each, shift, units);
    if (box.end >= x.low && box.begin <= x.high) lane.boxes.push_back(std::move(box));
  }
  std::ranges::stable_sort(lane.boxes, {}, &TimeBox::begin);
  return lane;
}

bool add_collective_lanes(Lanes& panel, std::span<const record::Ledger* const> ranks, const Recording& shown,
                          const record::StepRange& range, record::TimeAxis axis) {
  if (range.step < 0 || axis == record::TimeAxis::kEvent || range.first_mark >= shown.marks().size()) return false;
  std::vector<Lane> lanes;
  for (const record::Ledger* const rank : ranks) {
    const Recording& each = rank->recording();
    Lane lane = collective_lane(each, shown, range, axis, panel.x, {});
    lane.label = fmt::format("Rank {}", each.info().rank);
    lane.thin = &each != &shown;
    if (!lane.thin && lane.boxes.empty()) return false;
    if (lane.thin) lane.action = SetParam{std::string(kRankParam.key), std::to_string(each.info().rank)};
    lanes.push_back(std::move(lane));
  }
  lanes.front().note = note_of(shown, range.step);
  std::ranges::move(lanes, std::back_inserter(panel.lanes));
  return true;
}

}  // namespace headroom::lessons
