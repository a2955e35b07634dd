// Draws collectives as boxes.
#include "lessons/steps/collective_lanes.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/record/rows/collective.h"
#include "lessons/params.h"

namespace headroom::lessons {

using record::Collective;
using record::Recording;

namespace {

bool is_sum(record::CollectiveKind kind) {
  return kind == record::CollectiveKind::kAllReduce || kind == record::CollectiveKind::kReduceScatter;
}

// "gather"
std::string_view short_name(record::CollectiveKind kind) {
  if (is_sum(kind)) return "sum";
  return kind == record::CollectiveKind::kAllGather ? "gather" : record::label_of(kind);
}

std::string tip_of(const Collective& each) {
  std::string tip(record::label_of(each.kind));
  if (each.layer != record::kNoLayer) tip += fmt::format(", layer {}", each.layer);
  tip += fmt::format(", {}: {}, {}", record::label_of(each.phase), record::format_bytes(each.bytes),
                     record::format_duration(each.end - each.begin));
  if (each.end > each.begin)  // 1 byte/ns is 10⁹ bytes per second
    tip += fmt::format(", {:.1f} GB/s sent",
                       static_cast<double>(record::sent_bytes(each)) / static_cast<double>(each.end - each.begin));
  return tip;
}

TimeBox box_of(const Collective& each, double shift) {
  std::string label(short_name(each.kind));
  if (each.layer != record::kNoLayer) label += fmt::format(" {}", each.layer);
  return {.begin = static_cast<double>(each.begin) + shift,
          .end = static_cast<double>(each.end) + shift,
          .work = is_sum(each.kind) ? Work::kSum : Work::kGather,
          .bytes = each.bytes,
          .label = std::move(label),
          .tip = tip_of(each)};
}

bool on_axis(const Axis& x, const TimeBox& box) { return box.end >= x.low && box.begin <= x.high; }

Lane lane_of(const Recording& run, std::int32_t step, const Axis& x, double shift) {
  Lane lane;
  for (const Collective& each : run.collectives()) {
    if (each.step != step) continue;
    TimeBox box = box_of(each, shift);
    if (on_axis(x, box)) lane.boxes.push_back(std::move(box));
  }
  std::ranges::stable_sort(lane.boxes, {}, &TimeBox::begin);
  return lane;
}

std::string note_of(const Recording& run, std::int32_t step) {
  const record::CollectiveSums sums = record::sums_of(run.collectives(), step);
  return fmt::format("{} collectives send {} and take {}", sums.count, record::format_bytes(sums.sent),
                     record::format_duration(sums.time));
}

// Time from another rank's clock to the shown one's axis.
double shift_of(const Recording& other, const Recording& shown, record::Nanoseconds origin, std::int32_t step) {
  const record::Nanoseconds a = shown.info().clock_start, b = other.info().clock_start;
  if (a != 0 && b != 0) return static_cast<double>(b - a - origin);
  for (const record::StepRange& range : record::steps_of(other))
    if (range.step == step && range.first_mark < other.marks().size())
      return -static_cast<double>(other.marks()[range.first_mark].device_time);
  return -static_cast<double>(origin);
}

}  // namespace

bool add_collective_lanes(Lanes& panel, std::span<const record::Ledger* const> ranks, const Recording& shown,
                          const record::StepRange& range, record::TimeAxis axis) {
  if (range.step < 0 || axis == record::TimeAxis::kEvent || range.first_mark >= shown.marks().size()) return false;
  const record::Mark& mark = shown.marks()[range.first_mark];
  const record::Nanoseconds origin = axis == record::TimeAxis::kHost ? mark.host_time : mark.device_time;
  std::vector<Lane> lanes;
  for (const record::Ledger* const rank : ranks) {
    const Recording& each = rank->recording();
    const bool own = &each == &shown;
    const double shift = own ? -static_cast<double>(origin) : shift_of(each, shown, origin, range.step);
    Lane lane = lane_of(each, range.step, panel.x, shift);
    if (own && lane.boxes.empty()) return false;
    lane.label = fmt::format("Rank {}", each.info().rank);
    lane.thin = !own;
    if (!own) lane.action = SetParam{std::string(kRankParam.key), std::to_string(each.info().rank)};
    lanes.push_back(std::move(lane));
  }
  lanes.front().note = note_of(shown, range.step);
  std::ranges::move(lanes, std::back_inserter(panel.lanes));
  return true;
}

}  // namespace headroom::lessons
