// The variables that launchers set for each of their processes on one host.
#pragma once

#include <map>
#include <string>

namespace headroom::tests {

using Variables = std::map<std::string, std::string>;

Variables torchrun(int rank, int ranks, int port = 29500);
Variables slurm(int rank, int ranks);
Variables open_mpi(int rank, int ranks);

}  // namespace headroom::tests
