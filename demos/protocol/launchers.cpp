// One table of launchers and the variables that each sets.
#include "demos/protocol/launchers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace headroom::protocol {
namespace {

using record::Error;
using record::Result;

constexpr int kMostRanks = 1 << 20;
constexpr int kDefaultPort = 29500;  // torchrun's

// Variables of a launcher; an empty name is one that it does not set.
struct Convention {
  std::string_view launcher;
  std::string_view rank, ranks, local_rank, local_ranks;
  std::array<std::string_view, 2> job;  // together they differ from other jobs of the same hosts
};

constexpr std::string_view kSlurm = "Slurm";
constexpr std::string_view kHeadroom = "Headroom";
constexpr std::string_view kTorchrun = "torchrun";
// An sbatch script outside srun has SLURM_NTASKS and SLURM_PROCID too, but no step.
constexpr Convention kConventions[] = {
    {kHeadroom, "HEADROOM_RANK", "HEADROOM_RANKS", "HEADROOM_RANK", "HEADROOM_RANKS", {}},
    {kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", {"TORCHELASTIC_RUN_ID"}},
    {kSlurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {"PMI_JOBID"}},
};

std::optional<std::string> value_of(const Environment& environment, std::string_view name) {
  return name.empty() ? std::nullopt : environment(name);
}

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number of a variable, from `low` to `high`; empty if the variable is not set.
Result<std::optional<int>> read_number(const Environment& environment, std::string_view name, int low, int high) {
  const auto text = value_of(environment, name);
  if (!text) return std::optional<int>();
  const auto value = number_in(*text);
  if (!value || *value < low || *value > high)
    return Error{std::string(name) + " is '" + *text + "'; it must be a whole number from " + std::to_string(low) +
                 " to " + std::to_string(high) + "."};
  return value;
}

bool names_rank(const Environment& environment, const Convention& convention) {
  return environment(convention.rank) && environment(convention.ranks);
}

// Reads numbers and keeps the first error.
class Numbers {
 public:
  explicit Numbers(const Environment& environment) : environment_(environment) {}

  std::optional<int> operator()(std::string_view name, int low, int high) {
    auto number = read_number(environment_, name, low, high);
    if (number) return number.value();
    if (!error_) error_ = number.error();
    return std::nullopt;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Environment& environment_;
  std::optional<Error> error_;
};

// Tasks of each node from Slurm's "4(x2),3": 4, 4, 3; empty if malformed.
std::vector<int> tasks_per_node(std::string_view text) {
  std::vector<int> nodes;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t times = part.find("(x");
    const auto tasks = number_in(part.substr(0, times));
    std::optional<int> count = 1;
    if (times != std::string_view::npos)
      count = part.ends_with(')') ? number_in(part.substr(times + 2, part.size() - times - 3)) : std::nullopt;
    if (!tasks || !count || *tasks < 0 || *count < 1 || *count > kMostRanks) return {};
    nodes.insert(nodes.end(), static_cast<std::size_t>(*count), *tasks);
  }
  return nodes;
}

// Ranks of this host in a Slurm step.
Result<std::optional<int>> slurm_local_ranks(const Environment& environment) {
  for (const std::string_view name : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}) {
    const auto text = environment(name);
    if (!text) continue;
    const std::vector<int> nodes = tasks_per_node(*text);
    if (nodes.empty()) return Error{std::string(name) + " is '" + *text + "'; Slurm writes it as '4(x2),3'."};
    const auto node = read_number(environment, "SLURM_NODEID", 0, kMostRanks);
    if (!node) return node.error();
    const auto index = static_cast<std::size_t>(node.value().value_or(0));
    return std::optional<int>(nodes[std::min(index, nodes.size() - 1)]);
  }
  return std::optional<int>();
}

// The values that tell the launch from others; empty if the launcher sets none.
std::string job_of(const Environment& environment, const Convention& convention) {
  std::string job;
  for (const std::string_view name : convention.job) job += value_of(environment, name).value_or("") + "/";
  return job.find_first_not_of('/') == std::string::npos ? "" : job;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return hash;
}

// 12000 to 31999: below the ports that systems hand out by themselves. The same for all ranks of a job.
int port_of(const std::string& job) {
  return job.empty() ? kDefaultPort : 12000 + static_cast<int>(hash_of(job) % 20000);
}

// Hashed, because the values of variables may contain any bytes. Ports and folders are used again by later launches,
// job names are not.
std::string run_of(std::string_view launcher, const std::string& job, const RankPlace& place) {
  const std::string meeting = place.store.empty() ? fmt::format("{}:{}", place.address, place.port) : place.store;
  return fmt::format("{} {:016x}", launcher, hash_of(fmt::format("{}{}/{}", job, meeting, place.attempt)));
}

record::Status set_meeting_place(const Environment& environment, const Convention& convention, RankPlace& place) {
  if (convention.launcher == kHeadroom) {
    place.store = environment("HEADROOM_STORE").value_or("");
    if (place.store.empty())
      return Error{"HEADROOM_RANK is set, but HEADROOM_STORE is not; set it to a new folder that all ranks can write."};
    return record::Ok{};
  }
  const auto port = read_number(environment, "MASTER_PORT", 1, 65535);
  if (!port) return port.error();
  place.port = port.value().value_or(port_of(job_of(environment, convention)));
  place.address = environment("MASTER_ADDR").value_or("");
  if (place.address.empty() && place.one_host()) place.address = "127.0.0.1";
  if (place.address.empty() && convention.launcher == kSlurm)
    for (const std::string_view name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
      if (place.address.empty()) place.address = first_host(environment(name).value_or(""));
  if (place.address.empty())
    return Error{std::string(convention.launcher) + " started " + std::to_string(place.ranks) +
                 " ranks on several hosts and names no address to meet at; set MASTER_ADDR on all of them to the host "
                 "of rank 0."};
  return record::Ok{};
}

Result<RankPlace> read_place(const Environment& environment, const Convention& convention) {
  RankPlace place;
  Numbers number(environment);
  place.ranks = number(convention.ranks, 1, kMostRanks).value_or(1);
  place.rank = number(convention.rank, 0, place.ranks - 1).value_or(0);
  place.local_ranks = number(convention.local_ranks, 1, place.ranks);
  place.local_rank = number(convention.local_rank, 0, place.local_ranks.value_or(place.ranks) - 1);
  if (convention.launcher == kTorchrun) {
    place.launcher_serves = environment("TORCHELASTIC_USE_AGENT_STORE") == "True";
    place.attempt = number("TORCHELASTIC_RESTART_COUNT", 0, kMostRanks).value_or(0);
  }
  if (number.error()) return *number.error();
  if (convention.launcher == kSlurm) {
    const auto local = slurm_local_ranks(environment);
    if (!local) return local.error();
    place.local_ranks = local.value();
  }
  if (const auto status = set_meeting_place(environment, convention, place); !status) return status.error();
  place.watched = convention.launcher == kHeadroom;
  place.run = run_of(convention.launcher, job_of(environment, convention), place);
  return place;
}

// Compares with the launchers after the one that was read.
std::string disagreement(const Environment& environment, const Launch& launch, std::span<const Convention> others) {
  for (const Convention& other : others) {
    if (!names_rank(environment, other)) continue;
    const std::string rank = *environment(other.rank), ranks = *environment(other.ranks);
    if (number_in(rank) == launch.place.rank && number_in(ranks) == launch.place.ranks) continue;
    return launch.launcher + " says rank " + std::to_string(launch.place.rank) + " of " +
           std::to_string(launch.place.ranks) + ", " + std::string(other.launcher) + " says rank " + rank + " of " +
           ranks + "; " + launch.launcher + " is used.";
  }
  return {};
}

}  // namespace

std::optional<std::string> environment_variable(std::string_view name) {
  const char* const value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string first_host(std::string_view list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string_view::npos || comma < bracket) return std::string(list.substr(0, comma));
  const std::string_view numbers = list.substr(bracket + 1, list.find(']', bracket) - bracket - 1);
  std::string host(list.substr(0, bracket));
  host += numbers.substr(0, numbers.find_first_of(",-"));
  const std::size_t end = list.find(']', bracket);
  if (end != std::string_view::npos) host += list.substr(end + 1, list.find(',', end) - end - 1);
  return host;
}

Result<std::optional<Launch>> read_launch(const Environment& environment) {
  const auto used = std::find_if(std::begin(kConventions), std::end(kConventions),
                                 [&](const Convention& each) { return names_rank(environment, each); });
  if (used == std::end(kConventions)) return std::optional<Launch>();
  const auto place = read_place(environment, *used);
  if (!place) return place.error();
  Launch launch{.place = place.value(), .launcher = std::string(used->launcher)};
  launch.disagreement = disagreement(environment, launch, {used + 1, std::end(kConventions)});
  return std::optional<Launch>(std::move(launch));
}

}  // namespace headroom::protocol
