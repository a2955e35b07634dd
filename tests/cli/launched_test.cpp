// headroom run as one rank of a launcher, with a scripted engine.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include <nlohmann/json.hpp>

#include "demos/record/run_recordings.h"
#include "tests/cli/support/launchers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/cli/support/with_engine.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

RunOptions with_variables(const std::string& script, const Variables& variables) {
  RunOptions options = with_engine(script);
  for (const auto& [name, value] : variables) options.environment[name] = value;
  return options;
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

// The run fails before an engine starts.
Ran refused_with(const Variables& variables, const Words& more = {}) {
  Words words{"run", "train_step"};
  words.insert(words.end(), more.begin(), more.end());
  Ran ran = run_headroom(words, with_variables("silent_death", variables));
  INFO(ran.err);
  CHECK(ran.out.empty());
  return ran;
}

// The GPUs that rank `rank` of 2 shows its engine, on a host with `gpus` GPUs.
std::string visible_to(int rank, const std::string& gpus, const Variables& more) {
  unsetenv("CUDA_VISIBLE_DEVICES");  // of the machine that runs this test
  const TemporaryFolder folder;
  RunOptions options = with_variables("completed", with(torchrun(rank, 2), more));
  options.environment["LD_LIBRARY_PATH"] = HEADROOM_FAKE_DRIVER;
  options.environment["FAKE_DRIVER"] = "580.82.07";
  options.environment["FAKE_GPUS"] = gpus;
  const Ran ran = run_headroom({"run", "train_step", "--record", folder / "a.hrec"}, options);
  if (ran.exit_code != 0) return ran.err;
  const auto run = record::RunRecordings::read(record::part_path(folder / "a.hrec", rank));
  REQUIRE(run);
  return record::fact_of(run.value().ranks[static_cast<std::size_t>(rank)].info().provenance, "visible", "all");
}

}  // namespace

TEST_CASE("Each process of a launcher records one rank, and only rank 0 prints") {
  for (const auto& variables_of :
       {std::function<Variables(int, int)>([](int rank, int ranks) { return torchrun(rank, ranks); }),
        std::function<Variables(int, int)>(slurm), std::function<Variables(int, int)>(open_mpi)}) {
    const TemporaryFolder folder;
    for (const int rank : {0, 1, 2}) {
      const Ran ran = run_headroom({"run", "train_step", "--record", folder / "run.hrec", "--json"},
                                   with_variables("completed", variables_of(rank, 3)));
      INFO(ran.err);
      REQUIRE(ran.exit_code == 0);
      if (rank == 0) {
        CHECK(json::parse(ran.out)["params"]["ranks"] == 3);
      } else {
        CHECK(ran.out.empty());
        CHECK(ran.err.empty());
      }
    }
    CHECK(folder.files() == Words{"run.hrec", "run.rank1.hrec", "run.rank2.hrec"});
    const auto run = record::RunRecordings::read(folder / "run.hrec");
    INFO((run ? "" : run.error().message));
    REQUIRE(run);
    REQUIRE(run.value().ranks.size() == 3);
    for (const record::Recording& rank : run.value().ranks) {
      CHECK_FALSE(rank.truncated());
      CHECK(rank.events().size() == small_recording().events().size());
      CHECK(record::fact_of(rank.info().params, "ranks") == "3");
    }
  }
}

TEST_CASE("Each rank keeps the memory of the first steps in its own file") {
  const TemporaryFolder folder;
  for (const int rank : {0, 1})
    CHECK(run_headroom({"run", "train_step", "--record", folder / "run.hrec", "--memory-steps", "1"},
                       with_variables("completed", torchrun(rank, 2)))
              .exit_code == 0);
  const auto run = record::RunRecordings::read(folder / "run.hrec");
  REQUIRE(run);
  REQUIRE(run.value().ranks.size() == 2);
  for (const record::Recording& rank : run.value().ranks)
    CHECK(rank.events().size() < small_recording().events().size());
}

TEST_CASE("The parts of two launches are not one run") {
  const TemporaryFolder folder;
  const Words command{"run", "train_step", "--record", folder / "run.hrec"};
  REQUIRE(run_headroom(command, with_variables("completed", torchrun(0, 2))).exit_code == 0);
  const Variables later = with(torchrun(1, 2), {{"TORCHELASTIC_RUN_ID", "later"}});
  REQUIRE(run_headroom(command, with_variables("completed", later)).exit_code == 0);
  const auto run = record::RunRecordings::read(folder / "run.hrec");
  REQUIRE_FALSE(run);
  CHECK(holds(run.error().message, "is not rank 1 of the run in"));
}

TEST_CASE("A launcher with one process starts an ordinary run") {
  const TemporaryFolder folder;
  CHECK(run_headroom({"run", "block"}, with_variables("completed", torchrun(0, 1))).exit_code == 0);
  const Ran ran = run_headroom({"run", "train_step", "--set", "ranks=2", "--record", folder / "run.hrec"},
                               with_variables("completed", torchrun(0, 1)));
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(folder.files() == Words{"run.hrec"});
  const auto run = record::RunRecordings::read(folder / "run.hrec");
  REQUIRE(run);
  CHECK(run.value().ranks.size() == 2);
}

TEST_CASE("Another number of ranks than the launcher's is refused by each process") {
  const Ran first = refused_with(torchrun(0, 2), {"--set", "ranks=3"});
  CHECK(first.exit_code == 3);
  CHECK(first.err == "headroom: ranks=3 is set, but torchrun started 2 processes: remove ranks=3, or start 3.\n");
  const Ran second = refused_with(open_mpi(1, 2), {"--set", "ranks=1"});
  CHECK(second.exit_code == 3);
  CHECK(second.err ==
        "headroom: Rank 1: ranks=1 is set, but Open MPI started 2 processes: remove ranks=1, or start 1.\n");
  CHECK(run_headroom({"run", "train_step", "--set", "ranks=2"}, with_variables("completed", slurm(1, 2))).exit_code ==
        0);
}

TEST_CASE("A demo that runs in one process is not started by several") {
  const Ran ran = run_headroom({"run", "block"}, with_variables("silent_death", torchrun(0, 2)));
  CHECK(ran.exit_code == 3);
  CHECK(ran.err == "headroom: block runs in one process, but torchrun started 2: start one.\n");
}

TEST_CASE("Unusable variables of a launcher are reported before an engine starts") {
  const Ran malformed = refused_with(with(torchrun(1, 2), {{"RANK", "two"}}));
  CHECK(malformed.exit_code == 2);
  CHECK(malformed.err == "headroom: RANK is 'two'; it must be a whole number from 0 to 1.\n");
  const Ran scattered = refused_with(with(open_mpi(0, 2), {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}));
  CHECK(scattered.exit_code == 2);
  CHECK(holds(scattered.err, "set MASTER_ADDR on all of them to the host of rank 0."));
}

TEST_CASE("Rank 0 warns if two launchers disagree, and the run goes on") {
  const Ran ran =
      run_headroom({"run", "train_step", "--json"}, with_variables("completed", with(slurm(0, 4), torchrun(0, 2))));
  CHECK(ran.exit_code == 0);
  CHECK(holds(ran.err, "headroom: torchrun says rank 0 of 2, Slurm says rank 0 of 4; torchrun is used.\n"));
  CHECK(json::parse(ran.out)["params"]["ranks"] == 2);
  CHECK(
      run_headroom({"run", "train_step"}, with_variables("completed", with(slurm(0, 4), torchrun(1, 2)))).err.empty());
}

TEST_CASE("Another rank than 0 reports a failure in one sentence with its rank, and exits as any run") {
  const TemporaryFolder folder;
  const auto ran_as = [&](const std::string& script, const Words& more = {}) {
    Words words{"run", "train_step", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Ran ran = run_headroom(words, with_variables(script, torchrun(1, 2)));
    INFO(script << ": " << ran.err);
    CHECK(ran.out.empty());
    CHECK(ran.err.starts_with("headroom: Rank 1: "));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    return ran;
  };
  const Ran killed = ran_as("killed");
  CHECK(killed.exit_code == 7);
  CHECK(holds(killed.err, "SIGKILL"));
  CHECK(ran_as("silent_death").exit_code == 7);
  const Ran refused = ran_as("refused");
  CHECK(refused.exit_code == 3);
  CHECK(holds(refused.err, "use an even width"));
  CHECK(ran_as("out_of_memory").exit_code == 0);
  const Ran out_of_memory = ran_as("out_of_memory", {"--fail-on-oom"});
  CHECK(out_of_memory.exit_code == 4);
  CHECK(out_of_memory.err == "headroom: Rank 1: Out of memory in the loss.\n");
  const Ran limited = ran_as("cancelled", {"--time-limit", "0.3"});
  CHECK(limited.exit_code == 5);
  const Ran unwritable = ran_as("completed", {"--record", folder / "missing/run.hrec"});
  CHECK(unwritable.exit_code == 6);
  CHECK(holds(unwritable.err, folder / "missing/run.rank1.hrec"));
}

TEST_CASE("Each rank uses the GPU of its local number") {
  CHECK(visible_to(0, "2", {}) == "0");
  CHECK(visible_to(1, "2", {}) == "1");
  CHECK(visible_to(1, "4", {{"CUDA_VISIBLE_DEVICES", "3,1"}}) == "1");
  // Rank 1 is alone on the second host.
  CHECK(visible_to(1, "4", {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}}) == "0");
  CHECK(visible_to(1, "4", {{"CUDA_VISIBLE_DEVICES", "2"}}) == "2");  // chosen by a script
  CHECK(visible_to(1, "0", {}) == "all");
}

TEST_CASE("More ranks than GPUs are refused by all of them, unless they use the CPU") {
  const std::string reason =
      "torchrun started 2 ranks on this host, which has 1 GPU: start one per GPU, or use device=cpu.";
  CHECK(visible_to(0, "1", {}) == "headroom: " + reason + "\n");
  CHECK(visible_to(1, "1", {}) == "headroom: Rank 1: " + reason + "\n");
  RunOptions options = with_variables("completed", torchrun(1, 2));
  options.environment["LD_LIBRARY_PATH"] = HEADROOM_FAKE_DRIVER;
  options.environment["FAKE_DRIVER"] = "580.82.07";
  options.environment["FAKE_GPUS"] = "1";
  CHECK(run_headroom({"run", "train_step", "--device", "cpu"}, options).exit_code == 0);
}

TEST_CASE("doctor names the launcher that started it") {
  const auto launcher = [](const Variables& variables) {
    const json document = json::parse(run_headroom({"doctor", "--json"}, with_variables("completed", variables)).out);
    for (const json& check : document["checks"])
      if (check["name"] == "launcher") return check;
    return json();
  };
  CHECK(launcher({}).is_null());
  const json named = launcher(torchrun(1, 2));
  CHECK(named["status"] == "ok");
  CHECK(named["value"] == "torchrun: rank 1 of 2");
  const json disputed = launcher(with(slurm(3, 4), torchrun(1, 2)));
  CHECK(disputed["status"] == "note");
  CHECK(disputed["value"] ==
        "torchrun: rank 1 of 2; torchrun says rank 1 of 2, Slurm says rank 3 of 4; torchrun is used.");
  const json malformed = launcher(with(torchrun(1, 2), {{"WORLD_SIZE", "0"}}));
  CHECK(malformed["status"] == "problem");
  CHECK(holds(malformed["value"], "WORLD_SIZE is '0'"));
}
