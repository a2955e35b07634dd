// A run of several ranks: one engine process per rank behind one Backend.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "demos/backend/backend.h"

namespace headroom::backend {

// The GPUs that this process may use.
int visible_gpus();
// Returns the GPU of a rank, given this process's CUDA_VISIBLE_DEVICES (null: all). nullopt: it lists too few.
std::optional<std::string> device_of_rank(const char* visible, int rank);

// Starts the engines for each run and ends them with it. Each has HEADROOM_RANK, HEADROOM_RANKS and HEADROOM_STORE (a
// private folder for the run) in its environment, and one GPU in CUDA_VISIBLE_DEVICES. With device=auto all ranks use
// GPUs, or the CPU if there is no GPU; too few GPUs are refused. The first rank that fails ends the run: the others
// would wait for it forever, so they are killed, and the outcome names the rank. `record_to` gets all ranks in one
// file. state() is that of the slowest rank, progress() is rank 0's, and names a silent rank that the
// others wait for.
std::unique_ptr<Backend> make_rank_group(EngineCommand command, int ranks, std::function<int()> gpus = visible_gpus);

}  // namespace headroom::backend
