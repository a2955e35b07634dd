// Opens c10d's FileStore or TCPStore.
#include "demos/engine/llama/ranks/rank_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace headroom::llama {

namespace {

using Settings = std::map<std::string, std::string>;

constexpr const char* kAlike = "alike";

std::vector<std::uint8_t> bytes_of(const Settings& settings) {
  const std::string text = nlohmann::json(settings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {text.begin(), text.end()};
}

std::string value_in(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "nothing" : found->second;
}

// A sentence about the first setting in which a rank differs from the first rank; kAlike if there is none.
std::string difference(int rank, const Settings& mine, const Settings& first) {
  Settings all = mine;
  all.insert(first.begin(), first.end());
  for (const auto& [key, either] : all)
    if (const std::string here = value_in(mine, key), there = value_in(first, key); here != there)
      return "Rank " + std::to_string(rank) + " has " + key + "=" + here + ", but the first rank has " + there +
             ": start all ranks with the same program and settings.";
  return kAlike;
}

std::string verdict_key(int rank) { return "alike/" + std::to_string(rank); }

// The first verdict of another rank that is not kAlike.
std::string verdict_of_all(c10d::Store& store, int ranks) {
  for (int rank = 1; rank < ranks; ++rank)
    if (std::string verdict = store.get_to_str(verdict_key(rank)); verdict != kAlike) return verdict;
  return kAlike;
}

// Ranks with other settings would issue other collectives, and wait for ever or add up tensors that do not belong
// together. All ranks hear of a difference, because they would wait minutes for a rank that has left.
void check_alike(c10d::Store& store, const protocol::RankPlace& place, const Settings& mine) {
  std::string verdict;
  if (place.rank == 0) {
    store.set("alike", bytes_of(mine));
    verdict = verdict_of_all(store, place.ranks);
    store.set("alike/all", verdict);
  } else {
    const std::vector<std::uint8_t> text = store.get("alike");
    verdict = difference(place.rank, mine, nlohmann::json::parse(text.begin(), text.end()).get<Settings>());
    store.set(verdict_key(place.rank), verdict);
    if (verdict == kAlike) verdict = store.get_to_str("alike/all");
  }
  if (verdict != kAlike) throw CollectiveError(verdict);
}

c10::intrusive_ptr<c10d::Store> open(const protocol::RankPlace& place, const CollectiveOptions& options) {
  if (!place.store.empty()) {
    // The last rank to close the file removes it.
    auto file = c10::make_intrusive<c10d::FileStore>(place.store + "/" + options.group, place.ranks);
    file->setTimeout(options.start_timeout);
    return file;
  }
  c10d::TCPStoreOptions tcp;
  tcp.port = static_cast<std::uint16_t>(place.port);
  tcp.isServer = place.rank == 0 && !place.launcher_serves;
  tcp.numWorkers = static_cast<std::size_t>(place.ranks);
  tcp.waitWorkers = false;
  tcp.timeout = options.start_timeout / 2;  // c10d tries IPv6 for so long, and then IPv4
  tcp.multiTenant = true;                   // several groups of one process
  auto server = c10::make_intrusive<c10d::TCPStore>(place.address, tcp);
  server->setTimeout(options.start_timeout);
  // A launcher's store keeps the keys of earlier attempts.
  return c10::make_intrusive<c10d::PrefixStore>("headroom/" + options.group + "/" + std::to_string(place.attempt),
                                                std::move(server));
}

}  // namespace

c10::intrusive_ptr<c10d::Store> open_store(const protocol::RankPlace& place, const CollectiveOptions& options) {
  auto store = open(place, options);
  check_alike(*store, place, options.alike);
  return store;
}

}  // namespace headroom::llama
