// Training whose ranks a launcher starts, with real engines on the CPU.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <sstream>

#include <nlohmann/json.hpp>

#include "demos/record/ledger.h"
#include "demos/record/run_recordings.h"
#include "tests/cli/support/launchers.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

Words training(const std::string& file, const Words& more = {}) {
  Words words{"run",   "train_step", "--device",   "cpu",     "--record", file,    "--json",
              "--set", "steps=3",    "model=tiny", "batch=2", "seq=64",   "zero=3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A port of 127.0.0.1 that is free now.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(socket, any, size) == 0 && ::getsockname(socket, any, &size) == 0;
  ::close(socket);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

// All ranks at once, as torchrun starts them. `more`: variables that replace its own.
std::vector<Ran> run_ranks(const std::vector<Words>& words_of_ranks, const Variables& more = {}) {
  const int port = free_port(), ranks = static_cast<int>(words_of_ranks.size());
  std::vector<std::future<Ran>> running;
  for (int rank = 0; rank < ranks; ++rank) {
    RunOptions options = with_real_engine();
    for (const auto& [name, value] : torchrun(rank, ranks, port)) options.environment[name] = value;
    for (const auto& [name, value] : more) options.environment[name] = value;
    const Words& words = words_of_ranks[static_cast<std::size_t>(rank)];
    running.push_back(std::async(std::launch::async, [words, options] { return run_headroom(words, options); }));
  }
  std::vector<Ran> all;
  for (auto& each : running) all.push_back(each.get());
  return all;
}

std::vector<double> losses_of(const record::Recording& recording) {
  std::vector<double> losses;
  for (const record::MetricSample& sample : recording.metrics())
    if (sample.kind == record::MetricKind::kLoss) losses.push_back(sample.value);
  return losses;
}

// The file has two complete ranks that trained together.
void check_run(const std::string& file) {
  const auto read = record::RunRecordings::read(file);
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  const std::vector<record::Recording>& ranks = read.value().ranks;
  REQUIRE(ranks.size() == 2);
  for (const record::Recording& rank : ranks) {
    CHECK_FALSE(rank.truncated());
    CHECK(record::Ledger(rank).first_mismatch() == record::kNever);
    CHECK_FALSE(rank.collectives().empty());
  }
  CHECK(ranks[1].info().rank == 1);
  CHECK(losses_of(ranks[0]).size() == 3);
  CHECK(losses_of(ranks[0]) == losses_of(ranks[1]));
}

// Empty if no folder of PATH has the program.
std::string find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path program = fs::path(folder) / name; ::access(program.c_str(), X_OK) == 0) return program.string();
  return {};
}

// Two ranks started by a real launcher.
void check_launcher(const std::string& launcher, Words words) {
  const TemporaryFolder folder;
  const std::string file = folder / "run.hrec";
  RunOptions options = with_real_engine();
  options.program = launcher;
  words.push_back(std::string(HEADROOM_BIN_DIR) + "/headroom");
  for (const std::string& word : training(file)) words.push_back(word);
  const Ran ran = run_headroom(words, options);
  INFO(ran.err << ran.out);
  REQUIRE(ran.exit_code == 0);
  CHECK(json::parse(ran.out)["losses"].size() == 3);  // one document: only rank 0 prints
  CHECK(folder.files() == Words{"run.hrec", "run.rank1.hrec"});
  check_run(file);
}

}  // namespace

TEST_CASE("a rank that waits for a host that does not answer says where it waits") {
  const int port = free_port();
  RunOptions options = with_real_engine();
  for (const auto& [name, value] : torchrun(1, 2, port)) options.environment[name] = value;
  const Ran alone = run_headroom({"run", "train_step", "--set", "model=tiny", "--time-limit", "12"}, options);
  INFO(alone.err);
  CHECK(alone.exit_code != 0);
  CHECK(alone.err.find("Rank 1: still meeting the other ranks at 127.0.0.1:" + std::to_string(port)) !=
        std::string::npos);
}

TEST_CASE("two processes of a launcher train as two ranks that headroom starts itself") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.hrec";
  const std::vector<Ran> ran = run_ranks({training(file), training(file)});
  INFO(ran[0].err << ran[1].err);
  REQUIRE(ran[0].exit_code == 0);
  REQUIRE(ran[1].exit_code == 0);
  CHECK(ran[1].out.empty());
  CHECK(ran[1].err.empty());
  const json summary = json::parse(ran[0].out);
  CHECK(summary["params"]["ranks"] == 2);
  CHECK(folder.files() == Words{"run.hrec", "run.rank1.hrec"});
  check_run(file);

  RunOptions by_headroom = with_real_engine();
  by_headroom.environment["OMP_NUM_THREADS"] = "1";  // as torchrun sets it; the order of sums depends on it
  const Ran together = run_headroom(training(folder / "together.hrec", {"ranks=2"}), by_headroom);
  INFO(together.err);
  REQUIRE(together.exit_code == 0);
  check_run(folder / "together.hrec");
  const json expected = json::parse(together.out)["losses"];
  REQUIRE(summary["losses"].size() == expected.size());
  for (std::size_t step = 0; step < expected.size(); ++step)
    CHECK(summary["losses"][step].get<double>() == Approx(expected[step].get<double>()).epsilon(1e-6));
}

TEST_CASE("ranks of two hosts, which compare their clocks, train together") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.hrec";
  for (const Ran& ran : run_ranks({training(file), training(file)}, {{"LOCAL_RANK", "0"}, {"LOCAL_WORLD_SIZE", "1"}})) {
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
  }
  check_run(file);
}

TEST_CASE("a rank whose peer ends fails with one sentence") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.hrec";
  // Rank 0 runs out of memory, and its process ends.
  const std::vector<Ran> ran =
      run_ranks({training(file, {"cap=48MiB", "batch=16", "seq=256"}), training(file, {"batch=16", "seq=256"})});
  INFO(ran[0].err << ran[1].err);
  CHECK(ran[0].exit_code == 0);
  CHECK(json::parse(ran[0].out)["outcome"] == "out_of_memory");
  CHECK(ran[1].exit_code == 7);
  CHECK(ran[1].out.empty());
  CHECK(ran[1].err.starts_with("headroom: Rank 1 could not finish "));
  CHECK(holds(ran[1].err, "another rank ended or lost its connection."));
}

TEST_CASE("ranks with different settings end with one sentence") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.hrec";
  for (const Ran& ran : run_ranks({training(file), training(file, {"seq=32"})})) {
    CHECK(ran.exit_code != 0);
    CHECK(holds(ran.err,
                "Rank 1 has seq=32, but the first rank has 64: start all ranks with the same program and settings."));
  }
}

TEST_CASE("mpirun starts the ranks of a run") {
  const std::string mpirun = find_program("mpirun");
  RunOptions asked;
  asked.program = mpirun;
  if (mpirun.empty() || !holds(run_headroom({"--version"}, asked).out, "Open MPI"))
    return say_skipped("Open MPI is not installed.");
  check_launcher(mpirun, {"-np", "2", "--oversubscribe", "--allow-run-as-root"});
}

TEST_CASE("torchrun starts the ranks of a run") {
  const std::string torchrun = find_program("torchrun");
  if (torchrun.empty()) return say_skipped("torchrun is not installed.");
  check_launcher(torchrun, {"--standalone", "--nproc-per-node", "2", "--no-python"});
}
