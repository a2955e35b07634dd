// Reads from a launcher's environment which rank of a run this process is.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::protocol {

// Ranks meet in a store: a file in a folder of their host, or a TCP server.
struct RankPlace {
  int rank = 0;
  int ranks = 1;
  std::optional<int> local_rank;   // among the ranks of this host; empty if the launcher does not say
  std::optional<int> local_ranks;  // ranks of this host
  std::string store;               // a folder for this run only; empty: address and port
  std::string address;
  int port = 0;
  bool launcher_serves = false;  // otherwise rank 0 runs the server
  int attempt = 0;               // restarts by the launcher
  bool watched = false;          // Headroom ends the other ranks when one fails
  std::string run;               // a name that all ranks of this launch share, and no other launch has

  bool one_host() const { return !store.empty() || local_ranks == ranks; }
  bool operator==(const RankPlace&) const = default;
};

// Names what a rank does until all ranks are connected (Progress::doing begins with it), and its limit.
inline constexpr std::string_view kMeeting = "meeting the other ranks";
inline constexpr std::chrono::minutes kMeetingLimit{5};

struct Launch {
  RankPlace place;
  std::string launcher;  // "torchrun"
  // A sentence about another launcher's variables that name another rank or size; otherwise empty. Normal for torchrun
  // inside srun.
  std::string disagreement;
};

// The value of a variable, or none.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

// Reads a variable of this process.
std::optional<std::string> environment_variable(std::string_view name);

// Reads the first of these that sets a rank and a size: Headroom, torchrun, a Slurm step, Open MPI, PMI. Empty if none
// does: this process is not one of several ranks. Fails if a variable is malformed or out of range, and if ranks of
// several hosts have no address to meet at.
record::Result<std::optional<Launch>> read_launch(const Environment& environment);

// The first host of Slurm's list: "node[001-004,7],other" gives "node001".
std::string first_host(std::string_view list);

}  // namespace headroom::protocol
