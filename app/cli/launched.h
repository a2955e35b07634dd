// A run whose ranks a launcher started, such as torchrun: this process is one of them, with an engine of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/protocol/launchers.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Empty if no launcher started several processes.
record::Result<std::optional<protocol::Launch>> read_launched();

// Sets `ranks` to the number of processes. Refuses a demo that runs in one process.
record::Status set_ranks(record::Params& params, const experiments::DemoInfo& demo, const protocol::Launch& launch);
// Refuses another number of `ranks`, which the user has set.
record::Status check_ranks(const record::Params& params, const protocol::Launch& launch);

// Shows the engine only the GPU of this rank, unless the launcher did so or the run uses none. Refuses more ranks than
// this host has GPUs.
record::Status choose_gpu(EngineChoice& engine, const record::Params& params, const protocol::Launch& launch);

// "Rank 1: The engine was killed by SIGKILL."
std::string from_rank(int rank, std::string_view sentence);

}  // namespace headroom::app
