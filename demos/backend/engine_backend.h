// One engine process as a backend. make_engine() (engine_pair.cpp) decides which runs go to which process, and
// rank_group.cpp combines several.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/backend/engine_process.h"

namespace headroom::backend {

std::unique_ptr<Backend> make_engine_backend(EngineCommand command);

// The engine of one rank. Its process is not restarted.
class RankEngine : public Backend {
 public:
  // Kills the process, and gives the run this outcome even if it has finished.
  virtual void end(record::Outcome outcome) = 0;
  // Empty while the process lives.
  virtual const std::optional<EngineDied>& death() const = 0;
  // Collectives that the run has begun.
  virtual std::uint64_t collectives() const = 0;
  // A sentence for the user while the process is silent or its work makes no progress.
  virtual std::optional<std::string> silence() const = 0;
  // Names the other ranks' recordings in this rank's. Call after start().
  virtual void set_other_ranks(std::vector<std::shared_ptr<const record::Recording>> others) = 0;
};

struct RankInGroup {
  int rank = 0, ranks = 1;
  std::function<void(std::span<const std::byte>)> take_chunk;  // receives the recording's chunks, without the outcome
};

std::unique_ptr<RankEngine> make_rank_engine(EngineCommand command, RankInGroup in_group);

}  // namespace headroom::backend
