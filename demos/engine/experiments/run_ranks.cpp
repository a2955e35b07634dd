// Chooses NCCL, gloo or a plan.
#include "demos/engine/experiments/run_ranks.h"

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/ranks/rank_clock.h"
#include "demos/engine/llama/ranks/rank_store.h"

namespace headroom::experiments {
namespace {

// The limit of one collective if no process of ours ends the ranks that wait for a dead one.
constexpr std::chrono::milliseconds kUnwatched = std::chrono::minutes(5);

// Reports the difference of this host's clock. Returns the store, which on the first rank is the server of all stores.
c10::intrusive_ptr<c10d::Store> compare_clocks(const protocol::RankPlace& place, const std::string& run,
                                               const RunSetting& setting) {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  try {
    auto store = llama::open_store(place, {.group = run + ".clock"});
    setting.clock_differs(llama::measure_clock(*store, place.rank, place.ranks, now).ahead);
    return store;
  } catch (const llama::CollectiveError&) {
    throw;
  } catch (const std::exception& error) {
    throw llama::not_connected(place, error);
  }
}

// The collectives of this rank along one axis.
llama::MakeCollectives connector(const predict::CommunicatorBlocks& blocks, const protocol::RankPlace& place,
                                 const std::string& run, const RunSetting& setting) {
  return [blocks, place, run, &setting](int rank, int ranks, record::Axis axis,
                                        const std::string& group) -> std::unique_ptr<llama::Collectives> {
    const llama::CollectiveListener listener{.begins = setting.collective_begins, .issued = setting.collective_issued};
    if (setting.place.device.is_meta()) return llama::make_planned_collectives(rank, ranks, axis, listener);
    protocol::RankPlace among = place;
    among.rank = rank;
    among.ranks = ranks;
    if (place.one_host()) among.local_ranks = ranks;
    if (place.rank != 0) among.launcher_serves = true;  // the first of all ranks serves every group
    llama::CollectiveOptions options{
        .listener = listener, .axis = axis, .blocks = blocks, .alike = setting.alike, .group = run + "." + group};
    if (!place.watched) options.timeout = kUnwatched;
    return setting.place.device.is_cuda() ? llama::make_nccl_collectives(among, setting.place.device, options)
                                          : llama::make_gloo_collectives(among, options);
  };
}

}  // namespace

record::Result<RunRanks> run_ranks(std::int64_t ranks, const RunSetting& setting,
                                   const predict::CommunicatorBlocks& blocks) {
  const bool planned = setting.place.device.is_meta();
  const std::int64_t here = setting.rank ? setting.rank->ranks : 1;
  if (!planned && here != ranks)
    return record::Error{"ranks=" + std::to_string(ranks) + " needs as many engines, but " + std::to_string(here) +
                             (here == 1 ? " was" : " were") + " started; set ranks=" + std::to_string(here) +
                             ", or start the run with `headroom run`.",
                         record::ErrorKind::kRefused};
  if (ranks == 1) return RunRanks{};
  const protocol::RankPlace place = planned ? protocol::RankPlace{} : *setting.rank;
  static int runs = 0;  // ranks start the same runs in the same order
  const std::string run = "run" + std::to_string(++runs);
  if (!planned && setting.doing)
    setting.doing(std::string(protocol::kMeeting) + (place.store.empty() ? " " + llama::meeting_place(place) : ""));
  llama::MakeCollectives make = connector(blocks, place, run, setting);
  if (!planned && !place.one_host() && setting.clock_differs)
    make = [store = compare_clocks(place, run, setting), make](int rank, int of, record::Axis axis,
                                                               const std::string& group) {
      return make(rank, of, axis, group);  // the server must not end before the first group is connected
    };
  return RunRanks{.rank = place.rank, .make = std::move(make)};
}

}  // namespace headroom::experiments
