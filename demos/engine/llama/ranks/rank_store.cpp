// Opens c10d's FileStore or TCPStore.
#include "demos/engine/llama/ranks/rank_store.h"

#include <string>
#include <utility>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace headroom::llama {

c10::intrusive_ptr<c10d::Store> open_store(const protocol::RankPlace& place, const CollectiveOptions& options) {
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

}  // namespace headroom::llama
