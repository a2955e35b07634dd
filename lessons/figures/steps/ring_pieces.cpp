// The pieces of a recorded ring, as they go from rank to rank.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/forms/ring.h"
#include "demos/record/quantile.h"
#include "demos/record/rows/collective.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/collective_lanes.h"

namespace headroom::lessons {
namespace {

using record::Collective;
using record::CollectiveKind;
using record::Recording;

constexpr std::array kRingPiecesSchema{
    whole_param("piece", "Follow", "Number of the piece whose way is outlined, from 0", 0, 1023, 0),
};

// One rank's part of one sum.
struct RankRing {
  const Recording* run = nullptr;
  double shift = 0;  // to the shown rank's clock
  std::vector<Collective> sends, receives;

  bool complete() const {
    const auto steps = static_cast<std::size_t>(predict::ring_steps(std::max(1, run->info().ranks)));
    return steps > 0 && sends.size() == steps && receives.size() == steps;
  }
  double begin() const { return static_cast<double>(sends.front().begin) + shift; }
  double end() const { return static_cast<double>(std::max(sends.back().end, receives.back().end)) + shift; }
};

// One sum, by all ranks of the recording.
struct Ring {
  std::int32_t step = 0;
  std::vector<RankRing> ranks;

  bool complete() const { return std::ranges::all_of(ranks, &RankRing::complete); }
  double begin() const { return std::ranges::min_element(ranks, {}, &RankRing::begin)->begin(); }
  double time() const { return std::ranges::max_element(ranks, {}, &RankRing::end)->end() - begin(); }
};

// The complete sums without the first one, which warms up, unless it is the only one.
std::vector<Ring> counted_rings(const Recording& shown) {
  std::vector<const Recording*> runs{&shown};
  for (const auto& other : shown.other_ranks()) runs.push_back(other.get());
  std::map<std::int32_t, Ring> rings;
  for (std::size_t rank = 0; rank < runs.size(); ++rank)
    for (const Collective& each : runs[rank]->collectives()) {
      const bool sends = each.kind == CollectiveKind::kSend;
      if (each.step < 0 || (!sends && each.kind != CollectiveKind::kReceive)) continue;
      Ring& ring = rings[each.step];
      ring.step = each.step;
      ring.ranks.resize(runs.size());
      (sends ? ring.ranks[rank].sends : ring.ranks[rank].receives).push_back(each);
    }
  std::vector<Ring> counted;
  for (auto& [step, ring] : rings) {
    for (std::size_t rank = 0; rank < runs.size(); ++rank) {
      ring.ranks[rank].run = runs[rank];
      ring.ranks[rank].shift = clock_shift(*runs[rank], shown, 0, step);
    }
    if (ring.complete()) counted.push_back(std::move(ring));
  }
  if (counted.size() > 1) counted.erase(counted.begin());
  return counted;
}

const Ring& median_of(const std::vector<Ring>& rings) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < rings.size(); ++i) order.emplace_back(rings[i].time(), i);
  std::ranges::sort(order);
  return rings[order[(order.size() - 1) / 2].second];
}

TimeBox box_of(const RankRing& rank, std::size_t index, bool sends, double origin, int followed) {
  const int ranks = rank.run->info().ranks, own = rank.run->info().rank;
  const predict::RingStep step = predict::ring_step(own, ranks, static_cast<int>(index));
  const Collective& each = sends ? rank.sends[index] : rank.receives[index];
  const int piece = sends ? step.sends : step.receives;
  const int other = sends ? (own + 1) % ranks : (own + ranks - 1) % ranks;
  return {.begin = static_cast<double>(each.begin) + rank.shift - origin,
          .end = static_cast<double>(each.end) + rank.shift - origin,
          .work = step.sums ? Work::kSum : Work::kGather,
          .bytes = each.bytes,
          .label = std::to_string(piece),
          .tip = fmt::format("Rank {} {} piece {} {} rank {}, {}: {}, {}", own, sends ? "sends" : "receives", piece,
                             sends ? "to" : "from", other, step.sums ? "which is summed there" : "which is complete",
                             record::format_bytes(each.bytes), record::format_duration(each.end - each.begin)),
          .selected = piece == followed};
}

Lanes lanes_of(const Ring& ring, int followed) {
  Lanes panel;
  for (const RankRing& rank : ring.ranks) {
    for (const bool sends : {true, false}) {
      Lane lane{.label = fmt::format("Rank {} {}", rank.run->info().rank, sends ? "sends" : "receives")};
      for (std::size_t i = 0; i < rank.sends.size(); ++i)
        lane.boxes.push_back(box_of(rank, i, sends, ring.begin(), followed));
      panel.lanes.push_back(std::move(lane));
    }
  }
  const RankRing& shown = ring.ranks.front();
  panel.lanes.front().note =
      fmt::format("{} ranks, pieces of {}", shown.run->info().ranks, record::format_bytes(shown.sends.front().bytes));
  panel.x = {.unit = AxisUnit::kNanoseconds, .high = std::max(1.0, ring.time())};
  return panel;
}

// Median time of the library's all-reduce on the shown rank in these sums; negative without one.
double library_time(const Recording& run, const std::vector<Ring>& rings) {
  std::vector<double> times;
  for (const Collective& each : run.collectives())
    if (each.kind == CollectiveKind::kAllReduce && std::ranges::binary_search(rings, each.step, {}, &Ring::step))
      times.push_back(static_cast<double>(each.end - each.begin));
  return times.empty() ? -1 : record::quantiles_of(std::move(times)).median;
}

std::string rate_text(record::Bytes bytes, double time) {
  constexpr ShownUnit kRate{"GB/s", 1};  // 1 byte/ns
  return time > 0 ? amount_text(static_cast<double>(bytes) / time, kRate) : "";
}

Table times_of(const Recording& run, const std::vector<Ring>& rings) {
  const std::vector<Collective>& sends = rings.front().ranks.front().sends;
  record::Bytes sent = 0;
  for (const Collective& each : sends) sent += record::sent_bytes(each);
  std::vector<double> times;
  for (const Ring& ring : rings) times.push_back(ring.time());
  const double own = record::quantiles_of(std::move(times)).median, library = library_time(run, rings);
  const ShownUnit unit = time_unit(std::max(own, library));
  const std::string bytes = record::format_bytes(sent);
  Table table{.head = rings.size() > 1 ? fmt::format("Median of {} sums", rings.size()) : "One sum",
              .columns = {"time", "a rank sends", "per second"},
              .foot = "The library's row counts the bytes of a ring."};
  table.rows.push_back({.name = "This ring",
                        .note = fmt::format("{} messages of one piece", sends.size()),
                        .cells = {amount_text(own, unit), bytes, rate_text(sent, own)}});
  if (library >= 0)
    table.rows.push_back(
        {.name = "The library's all-reduce", .cells = {amount_text(library, unit), bytes, rate_text(sent, library)}});
  return table;
}

void add_ring_pieces_panels(FigureData& figure, const FigureInput& input) {
  const Recording& run = input.run->recording();
  figure.head.growing = !run.outcome().has_value();
  const std::vector<Ring> rings = counted_rings(run);
  if (rings.empty())
    return figure.leave_empty(figure.head.growing ? "The first sum is not complete yet."
                                                  : "This run has no complete ring: run the demo `ring`.");
  const Ring& shown = median_of(rings);
  set_step(figure.head, shown.step);
  figure.add(lanes_of(shown, static_cast<int>(input.params->integer("piece"))));
  figure.add(times_of(run, rings));
}

}  // namespace

extern const Figure kRingPieces;
constinit const Figure kRingPieces{
    .id = "ring_pieces",
    .title = "A sum in a ring, piece by piece",
    .caption =
        "Which piece each rank sends and receives when, in the recorded sum of median time, next to the library's "
        "all-reduce",
    .schema = kRingPiecesSchema,
    .add_panels = add_ring_pieces_panels,
};

}  // namespace headroom::lessons
