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

std::vector<std::uint8_t> bytes_of(const Settings& settings) {
  const std::string text = nlohmann::json(settings).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {text.begin(), text.end()};
}

std::string value_in(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "nothing" : found->second;
}

// Ranks with other settings would issue other collectives, and wait for ever or add up tensors that do not belong
// together.
void check_alike(c10d::Store& store, int rank, const Settings& mine) {
  if (rank == 0) return store.set("alike", bytes_of(mine));
  const std::vector<std::uint8_t> text = store.get("alike");
  const Settings first = nlohmann::json::parse(text.begin(), text.end()).get<Settings>();
  Settings all = mine;
  all.insert(first.begin(), first.end());
  for (const auto& [key, either] : all)
    if (const std::string here = value_in(mine, key), there = value_in(first, key); here != there)
      throw CollectiveError("Rank " + std::to_string(rank) + " has " + key + "=" + here + ", but the first rank has " +
                            there + ": start all ranks with the same program and settings.");
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
  tcp.timeout = options.start_timeout;
  tcp.multiTenant = true;  // several groups of one process
  auto server = c10::make_intrusive<c10d::TCPStore>(place.address, tcp);
  // A launcher's store keeps the keys of earlier attempts.
  return c10::make_intrusive<c10d::PrefixStore>("headroom/" + options.group + "/" + std::to_string(place.attempt),
                                                std::move(server));
}

}  // namespace

c10::intrusive_ptr<c10d::Store> open_store(const protocol::RankPlace& place, const CollectiveOptions& options) {
  auto store = open(place, options);
  check_alike(*store, place.rank, options.alike);
  return store;
}

}  // namespace headroom::llama
