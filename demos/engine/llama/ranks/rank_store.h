// The key-value store through which ranks exchange addresses before they are connected.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "demos/engine/llama/ranks/collectives.h"

namespace headroom::llama {

// Opens the store for the options' group: a file on one host, otherwise a TCP server, which rank 0 runs unless the
// launcher does. Throws c10d's errors, and CollectiveError if this rank was not started like rank 0.
c10::intrusive_ptr<c10d::Store> open_store(const protocol::RankPlace& place, const CollectiveOptions& options);

}  // namespace headroom::llama
