// Reads peaks and the last step of each rank.
#include "app/common/rank_summary.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/timeline.h"

namespace headroom::app {

namespace {

void add_last_step(RankSummary& summary, const record::Recording& recording) {
  const auto step = record::last_whole_step(recording);
  if (!step) return;
  for (const record::MetricSample& each : recording.metrics())
    if (each.step == step->step && each.kind == record::MetricKind::kStepNanoseconds)
      summary.step = static_cast<record::Nanoseconds>(each.value);
  summary.collectives = record::sums_of(recording.collectives(), step->step);
}

}  // namespace

std::vector<RankSummary> summarise_ranks(const record::Ledger& first) {
  std::vector<RankSummary> all;
  if (first.other_ranks().empty() || first.size() == 0) return all;
  const auto add = [&all](const record::Ledger& ledger) {
    RankSummary summary{.rank = static_cast<std::int32_t>(all.size()),
                        .peak = ledger.peak().totals.allocated,
                        .requested = ledger.peak_requested(),
                        .reserved = ledger.peak_reserved()};
    add_last_step(summary, ledger.recording());
    all.push_back(summary);
  };
  add(first);
  for (const record::Ledger& other : first.other_ranks()) add(other);
  return all;
}

nlohmann::json ranks_json(const std::vector<RankSummary>& ranks) {
  nlohmann::json all = nlohmann::json::array();
  for (const RankSummary& each : ranks)
    all.push_back({{"rank", each.rank},
                   {"peak_bytes", each.peak},
                   {"peak_requested_bytes", each.requested},
                   {"peak_reserved_bytes", each.reserved},
                   {"sent_bytes_per_step", each.collectives.sent},
                   {"collective_nanoseconds_per_step", each.collectives.time},
                   {"step_nanoseconds", each.step}});
  return all;
}

std::string ranks_text(const std::vector<RankSummary>& ranks) {
  std::string text;
  for (const RankSummary& each : ranks) {
    text += fmt::format("  {:<9} peak {}", fmt::format("rank {}", each.rank), record::format_bytes(each.peak));
    if (each.reserved > 0) text += fmt::format(", reserved {}", record::format_bytes(each.reserved));
    if (each.step > 0)
      text += fmt::format("; a step sends {} and spends {} of {} in collectives",
                          record::format_bytes(each.collectives.sent), record::format_duration(each.collectives.time),
                          record::format_duration(each.step));
    text += "\n";
  }
  return text;
}

}  // namespace headroom::app
