// The place of a process among ranks, as each launcher's environment says it.
#include "demos/protocol/launchers.h"

#include <map>
#include <utility>

#include "tests/support/catch.h"

using namespace headroom;
using protocol::Launch;
using protocol::RankPlace;

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

record::Result<std::optional<Launch>> read(const Variables& variables) {
  return protocol::read_launch([&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

Launch launch(const Variables& variables) {
  const auto result = read(variables);
  INFO((result ? "" : result.error().message));
  REQUIRE(result.ok());
  REQUIRE(result.value().has_value());
  return *result.value();
}

std::string refusal(const Variables& variables) {
  const auto result = read(variables);
  return result ? "" : result.error().message;
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const Variables kOurs{{"HEADROOM_RANK", "1"}, {"HEADROOM_RANKS", "2"}, {"HEADROOM_STORE", "/tmp/run"}};
const Variables kTorchrun{{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "host3"},
                          {"MASTER_PORT", "29400"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                          {"TORCHELASTIC_RESTART_COUNT", "2"}};
const Variables kSlurm{{"SLURM_PROCID", "6"},
                       {"SLURM_STEP_NUM_TASKS", "8"},
                       {"SLURM_LOCALID", "2"},
                       {"SLURM_NODEID", "1"},
                       {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                       {"SLURM_STEP_NODELIST", "node[001-004,7]"},
                       {"SLURM_JOB_ID", "4711"},
                       {"SLURM_STEP_ID", "0"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "3"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"PMIX_NAMESPACE", "prterun-1"}};
const Variables kPmi{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

}  // namespace

TEST_CASE("a process without a launcher's variables is no rank") {
  CHECK_FALSE(read({}).value().has_value());
  CHECK_FALSE(read({{"RANK", "0"}}).value().has_value());
  CHECK_FALSE(read({{"PMIX_RANK", "0"}}).value().has_value());
  // An sbatch script outside srun.
  CHECK_FALSE(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}).value().has_value());
}

TEST_CASE("each launcher's variables give a rank's place") {
  CHECK(launch(kOurs).launcher == "Headroom");
  const std::string ours = launch(kOurs).place.run;
  CHECK(
      launch(kOurs).place ==
      RankPlace{
          .rank = 1, .ranks = 2, .local_rank = 1, .local_ranks = 2, .store = "/tmp/run", .watched = true, .run = ours});

  CHECK(launch(kTorchrun).launcher == "torchrun");
  CHECK(launch(kTorchrun).place == RankPlace{.rank = 5,
                                             .ranks = 8,
                                             .local_rank = 1,
                                             .local_ranks = 4,
                                             .address = "host3",
                                             .port = 29400,
                                             .launcher_serves = true,
                                             .attempt = 2,
                                             .run = launch(kTorchrun).place.run});

  const RankPlace slurm = launch(kSlurm).place;
  CHECK(launch(kSlurm).launcher == "Slurm");
  CHECK(slurm.address == "node001");
  CHECK(slurm == RankPlace{.rank = 6,
                           .ranks = 8,
                           .local_rank = 2,
                           .local_ranks = 4,
                           .address = "node001",
                           .port = slurm.port,
                           .run = slurm.run});
  CHECK_FALSE(slurm.one_host());

  const RankPlace mpi = launch(kOpenMpi).place;
  CHECK(launch(kOpenMpi).launcher == "Open MPI");
  CHECK(mpi == RankPlace{.rank = 3,
                         .ranks = 4,
                         .local_rank = 3,
                         .local_ranks = 4,
                         .address = "127.0.0.1",
                         .port = mpi.port,
                         .run = mpi.run});
  CHECK(mpi.one_host());

  CHECK(launch(kPmi).launcher == "PMI");
  CHECK(launch(kPmi).place == RankPlace{.rank = 1,
                                        .ranks = 2,
                                        .local_rank = 1,
                                        .local_ranks = 2,
                                        .address = "127.0.0.1",
                                        .port = 29500,
                                        .run = launch(kPmi).place.run});
}

TEST_CASE("a launcher that does not say the local rank leaves it empty") {
  const RankPlace place = launch({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}).place;
  CHECK_FALSE(place.local_rank.has_value());
  CHECK_FALSE(place.local_ranks.has_value());
  CHECK_FALSE(place.one_host());
}

TEST_CASE("ports follow the job and stay below the system's own") {
  const auto port = [](const std::string& job) { return launch(with(kSlurm, {{"SLURM_JOB_ID", job}})).place.port; };
  CHECK(port("4711") == port("4711"));
  CHECK(port("4711") != port("4712"));
  for (int job = 0; job < 500; ++job) {
    REQUIRE(port(std::to_string(job)) >= 12000);
    REQUIRE(port(std::to_string(job)) < 32000);
  }
  CHECK(launch(with(kSlurm, {{"MASTER_PORT", "1234"}, {"MASTER_ADDR", "h"}})).place.port == 1234);
  CHECK(launch(with(kSlurm, {{"MASTER_PORT", "1234"}, {"MASTER_ADDR", "h"}})).place.address == "h");
}

TEST_CASE("the ranks of a launch share a name that other launches do not have") {
  const auto name = [](const Variables& variables) { return launch(variables).place.run; };
  CHECK(name(kTorchrun).starts_with("torchrun "));
  CHECK(name(kTorchrun) == name(with(kTorchrun, {{"RANK", "0"}, {"LOCAL_RANK", "0"}})));
  CHECK(name(kSlurm) == name(with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}})));
  CHECK(name(kOpenMpi) == name(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}})));
  CHECK(name(kOurs) == name(with(kOurs, {{"HEADROOM_RANK", "0"}})));
  const Variables meeting{{"MASTER_ADDR", "host"}, {"MASTER_PORT", "29400"}};
  const Variables torchrun = with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "a"}}), slurm = with(kSlurm, meeting);
  const std::pair<Variables, Variables> others[] = {{torchrun, {{"TORCHELASTIC_RUN_ID", "b"}}},
                                                    {torchrun, {{"TORCHELASTIC_RESTART_COUNT", "3"}}},
                                                    {torchrun, {{"MASTER_PORT", "29401"}}},
                                                    {torchrun, {{"MASTER_ADDR", "host4"}}},
                                                    {slurm, {{"SLURM_JOB_ID", "4712"}}},
                                                    {slurm, {{"SLURM_STEP_ID", "1"}}},
                                                    {with(kOpenMpi, meeting), {{"PMIX_NAMESPACE", "prterun-2"}}},
                                                    {with(kPmi, meeting), {{"PMI_JOBID", "2"}}},
                                                    {kOurs, {{"HEADROOM_STORE", "/tmp/two"}}}};
  for (const auto& [variables, other] : others) CHECK(name(variables) != name(with(variables, other)));
}

TEST_CASE("only Headroom ends the other ranks itself") {
  CHECK(launch(kOurs).place.watched);
  for (const Variables& variables : {kTorchrun, kSlurm, kOpenMpi, kPmi}) CHECK_FALSE(launch(variables).place.watched);
}

TEST_CASE("Slurm's tasks of each node give the ranks of this host") {
  const auto local = [](const std::string& tasks, const std::string& node) {
    return launch(with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", tasks}, {"SLURM_NODEID", node}})).place.local_ranks;
  };
  CHECK(local("4(x2)", "0") == 4);
  CHECK(local("3,4(x2),1", "0") == 3);
  CHECK(local("3,4(x2),1", "2") == 4);
  CHECK(local("3,4(x2),1", "3") == 1);
  // One number for all nodes.
  Variables variables = kSlurm;
  variables.erase("SLURM_STEP_TASKS_PER_NODE");
  variables["SLURM_NTASKS_PER_NODE"] = "4";
  CHECK(launch(variables).place.local_ranks == 4);
  // All tasks on one host meet there.
  CHECK(launch(with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "8"}, {"SLURM_NODEID", "0"}})).place.address == "127.0.0.1");
}

TEST_CASE("the first host of Slurm's lists") {
  CHECK(protocol::first_host("node[001-004,7]") == "node001");
  CHECK(protocol::first_host("node[7,001-004]") == "node7");
  CHECK(protocol::first_host("a,node[001-004]") == "a");
  CHECK(protocol::first_host("node[01-02]-ib,b") == "node01-ib");
  CHECK(protocol::first_host("single") == "single");
  CHECK(protocol::first_host("") == "");
}

TEST_CASE("the inner launcher wins, and a disagreement is reported") {
  const Launch inner = launch(with(kSlurm, kTorchrun));
  CHECK(inner.launcher == "torchrun");
  CHECK(inner.place.rank == 5);
  CHECK(inner.disagreement == "torchrun says rank 5 of 8, Slurm says rank 6 of 8; torchrun is used.");
  CHECK(launch(with(kSlurm, with(kTorchrun, {{"RANK", "6"}}))).disagreement.empty());
  CHECK(launch(with(kTorchrun, kOurs)).launcher == "Headroom");
  CHECK_FALSE(launch(with(kTorchrun, kOurs)).disagreement.empty());
}

TEST_CASE("malformed variables are refused by name") {
  CHECK(refusal(with(kTorchrun, {{"RANK", "two"}})) == "RANK is 'two'; it must be a whole number from 0 to 7.");
  CHECK(refusal(with(kTorchrun, {{"RANK", "8"}})) == "RANK is '8'; it must be a whole number from 0 to 7.");
  CHECK(refusal(with(kTorchrun, {{"RANK", "-1"}})) == "RANK is '-1'; it must be a whole number from 0 to 7.");
  CHECK_THAT(refusal(with(kTorchrun, {{"WORLD_SIZE", "0"}})), ContainsSubstring("WORLD_SIZE is '0'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"WORLD_SIZE", "99999999999"}})), ContainsSubstring("WORLD_SIZE"));
  CHECK_THAT(refusal(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}})), ContainsSubstring("LOCAL_WORLD_SIZE is '9'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"LOCAL_RANK", "4"}})), ContainsSubstring("LOCAL_RANK is '4'"));
  CHECK_THAT(refusal(with(kTorchrun, {{"MASTER_PORT", "65536"}})), ContainsSubstring("MASTER_PORT is '65536'"));
  CHECK_THAT(refusal(with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "4(x"}})),
             ContainsSubstring("SLURM_STEP_TASKS_PER_NODE is '4(x'"));
  CHECK_THAT(refusal(with(kSlurm, {{"SLURM_NODEID", "b"}})), ContainsSubstring("SLURM_NODEID is 'b'"));
  CHECK(refusal({{"HEADROOM_RANK", "0"}, {"HEADROOM_RANKS", "2"}}) ==
        "HEADROOM_RANK is set, but HEADROOM_STORE is not; set it to a new folder that all ranks can write.");
}

TEST_CASE("ranks on several hosts need an address") {
  const std::string cure = "set MASTER_ADDR on all of them to the host of rank 0.";
  CHECK_THAT(refusal(with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})),
             ContainsSubstring(cure));
  CHECK_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), ContainsSubstring(cure));
  CHECK(launch({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MASTER_ADDR", "h"}}).place.address == "h");
  Variables unlisted = kSlurm;
  unlisted.erase("SLURM_STEP_NODELIST");
  CHECK_THAT(refusal(unlisted), ContainsSubstring(cure));
  CHECK(launch(with(unlisted, {{"SLURM_JOB_NODELIST", "x[3-4]"}})).place.address == "x3");
}
