// The variables that launchers set for each of their processes on one host.
#include "tests/cli/support/launchers.h"

namespace headroom::tests {

// Rank 0 serves the store, as no agent of torchrun does.
Variables torchrun(int rank, int ranks, int port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(ranks)},
          {"LOCAL_RANK", std::to_string(rank)},
          {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
          {"GROUP_RANK", "0"},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)},
          {"TORCHELASTIC_USE_AGENT_STORE", "False"},
          {"TORCHELASTIC_RUN_ID", "7c0e"},
          {"TORCHELASTIC_RESTART_COUNT", "0"},
          {"TORCHELASTIC_MAX_RESTARTS", "0"},
          {"OMP_NUM_THREADS", "1"}};
}

Variables slurm(int rank, int ranks) {
  return {{"SLURM_PROCID", std::to_string(rank)},
          {"SLURM_NTASKS", std::to_string(ranks)},
          {"SLURM_STEP_NUM_TASKS", std::to_string(ranks)},
          {"SLURM_LOCALID", std::to_string(rank)},
          {"SLURM_NODEID", "0"},
          {"SLURM_STEP_TASKS_PER_NODE", std::to_string(ranks)},
          {"SLURM_STEP_NODELIST", "node001"},
          {"SLURM_JOB_ID", "4711"},
          {"SLURM_STEP_ID", "0"}};
}

Variables open_mpi(int rank, int ranks) {
  return {{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_SIZE", std::to_string(ranks)},
          {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(rank)},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(ranks)},
          {"PMIX_RANK", std::to_string(rank)},
          {"PMIX_NAMESPACE", "prterun-host-1@1"}};
}

}  // namespace headroom::tests
