// Runs of several ranks: one engine each, one file, and one outcome.
#include "demos/backend/rank_group.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <set>

#include "demos/record/run_recordings.h"
#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

constexpr int kRanks = 3;

std::shared_ptr<const record::Recording> rank_of(const backend::Backend& backend, int rank) {
  const auto first = backend.recording();
  return rank == 0 ? first : first->other_ranks().at(static_cast<std::size_t>(rank - 1));
}

// A group of fake engines, and the pids and stores of those that it started.
struct Group {
  TemporaryFolder folder;
  std::filesystem::path pids = folder.path() / "pids", path = folder.path() / "run.hrec";
  std::unique_ptr<backend::Backend> backend;
  std::set<std::string> stores;

  explicit Group(std::vector<std::string> arguments = {}) {
    arguments.push_back("--pids=" + pids.string());
    backend = backend::make_rank_group(fake_engine(arguments), kRanks);
  }

  std::vector<std::string> started() const {
    std::ifstream in(pids);
    return {std::istream_iterator<std::string>(in), {}};
  }
  bool wait_for(const std::function<bool()>& done) {
    return tests::wait_for(*backend, [&] {
      if (backend->facts().contains("store")) stores.insert(backend->facts().at("store"));
      return done();
    });
  }
  record::Outcome run(backend::RunRequest request) {
    request.record_to = path;
    const record::Status status = backend->start(request);
    INFO((status ? "" : status.error().message));
    REQUIRE(status.ok());
    REQUIRE(wait_for([&] { return backend->state() == RunState::kFinished; }));
    return outcome_of(*backend);
  }
  record::Outcome run(const std::string& mode) { return run(fake_request(mode)); }

  void check_nothing_left() const {
    for (const std::string& pid : started()) CHECK_FALSE(alive(pid));
    CHECK_FALSE(stores.empty());
    for (const std::string& store : stores) CHECK_FALSE(std::filesystem::exists(store));
  }
  // Each rank has the run's outcome, in memory and in the file.
  void check_outcome(const record::Outcome& outcome) const {
    const auto stored = record::RunRecordings::read(path);
    REQUIRE(stored.ok());
    REQUIRE(stored.value().ranks.size() == kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      CAPTURE(rank);
      const record::Recording& recording = *rank_of(*backend, rank);
      const record::Recording& read = stored.value().ranks[static_cast<std::size_t>(rank)];
      CHECK(recording.outcome() == outcome);
      CHECK(read.outcome() == outcome);
      CHECK((read.events() == recording.events()));
      CHECK((read.marks() == recording.marks()));
      CHECK(read.info().rank == rank);
      CHECK(read.info().ranks == kRanks);
      CHECK_FALSE(read.truncated());
    }
  }
};

}  // namespace

TEST_CASE("ranks use GPUs if there are enough, and the CPU if there is none") {
  static constexpr record::Choice kDevices[] = {{"auto", "auto"}, {"cpu", "cpu"}, {"cuda", "cuda"}};
  static constexpr record::ParamSpec kParams[] = {kFakeParams[0],
                                                  {.key = "device",
                                                   .label = "Device",
                                                   .help = "Where it runs.",
                                                   .kind = record::ParamKind::kChoice,
                                                   .default_text = "auto",
                                                   .choices = kDevices}};
  backend::RunRequest request{.demo = "fake", .params = record::Params(kParams)};
  REQUIRE(request.params.set("mode", "run").ok());
  const auto refusal = [&](const char* device, int gpus) {
    REQUIRE(request.params.set("device", device).ok());
    const auto group = backend::make_rank_group(fake_engine({}), kRanks, [gpus] { return gpus; });
    const record::Status status = group->start(request);
    return status ? std::string() : status.error().message;
  };
  CHECK(refusal("cpu", 1) == "");
  CHECK(refusal("auto", 0) == "");
  CHECK(refusal("auto", 3) == "");
  CHECK(refusal("cuda", 2) ==
        "The run needs 3 GPUs, one per rank, but this machine has 2: use ranks=2, or device=cpu.");
  CHECK(refusal("auto", 1) == "The run needs 3 GPUs, one per rank, but this machine has 1: use device=cpu.");
}

TEST_CASE("a run of three ranks is recorded into one file") {
  Group group;
  CHECK(group.backend->ranks() == kRanks);
  CHECK(group.backend->state() == RunState::kIdle);
  CHECK(group.backend->recording() == nullptr);
  CHECK(group.started().empty());
  for (std::size_t run = 1; run <= 2; ++run) {
    const record::Outcome outcome = group.run("steady");
    CHECK(outcome.kind == OutcomeKind::kCompleted);
    CHECK_FALSE(group.backend->write_error());
    CHECK(group.backend->progress().fraction == 1);
    CHECK(group.started().size() == run * kRanks);
    CHECK(group.stores.size() == run);
    group.check_nothing_left();
    group.check_outcome(outcome);
    for (int rank = 0; rank < kRanks; ++rank) check_whole(*rank_of(*group.backend, rank));
    CHECK(group.folder.entries() == 2);  // run.hrec and pids
  }
  CHECK(group.backend->devices().front().name == "CPU, fake");
}

TEST_CASE("ranks share a private folder, and each sees its own GPU") {
  ::setenv("CUDA_VISIBLE_DEVICES", "5,GPU-ab,7", 1);
  Group group;
  backend::RunRequest request = fake_request("endless");
  request.device = record::DeviceKind::kGpu;
  REQUIRE(group.backend->start(request).ok());
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  REQUIRE(group.wait_for([&] { return group.backend->state() == RunState::kRunning; }));
  REQUIRE(group.stores.size() == 1);
  struct stat status {};
  REQUIRE(::stat(group.stores.begin()->c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  std::ifstream in(*group.stores.begin() + "/visible");
  const std::set<std::string> visible{std::istream_iterator<std::string>(in), {}};
  CHECK(visible == std::set<std::string>{"0:5", "1:GPU-ab", "2:7"});
  group.backend.reset();
  group.check_nothing_left();
}

TEST_CASE("the GPU of a rank is that of the visible list") {
  CHECK(backend::device_of_rank(nullptr, 3) == "3");
  CHECK(backend::device_of_rank("4,6", 1) == "6");
  CHECK(backend::device_of_rank("4,6", 2) == std::nullopt);
  CHECK(backend::device_of_rank("", 0) == std::nullopt);
}

TEST_CASE("a run with fewer visible GPUs than ranks does not start") {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  Group group;
  backend::RunRequest request = fake_request("steady");
  request.device = record::DeviceKind::kGpu;
  const record::Status refused = group.backend->start(request);
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(refused.error().message, "CUDA_VISIBLE_DEVICES lists 2 GPUs, but the run needs 3"));
  CHECK(group.backend->state() == RunState::kIdle);
  for (const std::string& pid : group.started()) CHECK_FALSE(alive(pid));
  CHECK(group.run("steady").kind == OutcomeKind::kCompleted);
}

TEST_CASE("a rank that is killed ends the run, and the outcome names rank, cause and place") {
  Group group;
  const record::Outcome outcome = group.run("sigkill@2:wait");
  CHECK(outcome.kind == OutcomeKind::kEngineLost);
  CHECK(outcome.message ==
        "Rank 2 was killed by SIGKILL (Linux does this when the machine runs out of memory) in step 3, layer 2, "
        "forward; the other ranks were stopped.");
  CHECK(group.started().size() == kRanks);
  group.check_nothing_left();
  group.check_outcome(outcome);
  CHECK(rank_of(*group.backend, 2)->marks().size() == 3);
  CHECK(group.run("steady").kind == OutcomeKind::kCompleted);
}

TEST_CASE("a rank that is killed from outside ends the run") {
  Group group;
  REQUIRE(group.backend->start(fake_request("wait")).ok());
  REQUIRE(group.wait_for([&] {
    for (int rank = 0; rank < kRanks; ++rank)
      if (rank_of(*group.backend, rank)->marks().size() < 5) return false;
    return true;
  }));
  CHECK(group.backend->state() == RunState::kRunning);
  const auto begin = Clock::now();
  ::kill(std::stoi(group.started()[1]), SIGKILL);
  REQUIRE(finished(*group.backend));
  CHECK(Clock::now() - begin < 10s);  // no timeout of a collective, which takes minutes
  CHECK(contains(outcome_of(*group.backend).message, " in step 5, layer 4, forward; the other ranks were stopped."));
  group.check_nothing_left();
}

TEST_CASE("the place of a killed rank that had queued a whole step is that step's end") {
  Group group;
  REQUIRE(group.backend->start(fake_request("queued")).ok());
  REQUIRE(group.wait_for([&] {
    for (int rank = 0; rank < kRanks; ++rank)
      if (rank_of(*group.backend, rank)->marks().size() < 6) return false;
    return true;
  }));
  ::kill(std::stoi(group.started()[1]), SIGKILL);  // any rank
  REQUIRE(finished(*group.backend));
  CHECK_THAT(outcome_of(*group.backend).message,
             ContainsSubstring(" at the end of step 5; the other ranks were stopped."));
}

TEST_CASE("a rank that runs out of memory ends the run with its facts") {
  Group group;
  const record::Outcome outcome = group.run("out_of_memory@1:wait");
  CHECK(outcome.kind == OutcomeKind::kOutOfMemory);
  REQUIRE(outcome.out_of_memory);
  CHECK(outcome.out_of_memory->requested == record::kGiB);
  CHECK(outcome.message ==
        "Rank 1 ran out of memory in step 10, layer 9, forward: no room for 1 GiB; the other ranks were stopped.");
  group.check_nothing_left();
  group.check_outcome(outcome);
}

TEST_CASE("a failure that another rank's death caused is not the outcome") {
  Group group;
  const record::Outcome outcome = group.run("sigkill_after_echo@2:echo");
  CHECK(outcome.kind == OutcomeKind::kEngineLost);
  CHECK(contains(outcome.message, "Rank 2 was killed by SIGKILL"));
  group.check_nothing_left();
}

TEST_CASE("a failed rank ends the run even if no other cause appears") {
  Group group;
  const record::Outcome outcome = group.run("echo@1:wait");
  CHECK(outcome.kind == OutcomeKind::kFailed);
  CHECK(outcome.message ==
        "Rank 1 failed in step 3, layer 2, forward: Connection closed by peer; the other ranks were stopped.");
  group.check_nothing_left();
  group.check_outcome(outcome);
}

TEST_CASE("a refusal is the run's outcome, and writes no file") {
  Group group;
  const record::Outcome outcome = group.run("refuse");
  CHECK(outcome.kind == OutcomeKind::kRefused);
  CHECK(outcome.message == "The batch is too large.");
  CHECK_FALSE(std::filesystem::exists(group.path));
  group.check_nothing_left();
}

TEST_CASE("a cancel reaches all ranks") {
  Group group;
  const std::string mode = GENERATE("endless", "ignore_terminate@1:endless");
  backend::RunRequest request = fake_request(mode, group.path);
  REQUIRE(group.backend->start(request).ok());
  CHECK_FALSE(group.backend->start(request).ok());
  REQUIRE(group.wait_for([&] { return rank_of(*group.backend, 1)->marks().size() >= 3; }));
  group.backend->cancel();
  CHECK(group.backend->state() == RunState::kCancelling);
  REQUIRE(finished(*group.backend));
  const record::Outcome outcome = outcome_of(*group.backend);
  CHECK(outcome.kind == OutcomeKind::kCancelled);
  CHECK_FALSE(contains(outcome.message, "new one"));
  group.check_nothing_left();
  group.check_outcome(outcome);
}

TEST_CASE("a run can be cancelled before its engines are ready") {
  Group group({"--late"});
  REQUIRE(group.backend->start(fake_request("steady", group.path)).ok());
  CHECK(group.backend->state() == RunState::kStarting);
  group.backend->cancel();
  REQUIRE(group.backend->state() == RunState::kFinished);
  CHECK(outcome_of(*group.backend).kind == OutcomeKind::kCancelled);
  for (const std::string& pid : group.started()) CHECK_FALSE(alive(pid));
  CHECK_FALSE(std::filesystem::exists(group.path));
}

TEST_CASE("of ranks that make no progress the one that stopped first is named") {
  Group group;
  backend::RunRequest request = fake_request("hang@1:wait");
  request.engine.patience = 1s;
  const record::Outcome outcome = group.run(request);
  CHECK(outcome.kind == OutcomeKind::kFailed);
  CHECK(outcome.message ==
        "No rank made progress for 1 s. Rank 1 stopped first, in step 3, layer 2, forward, before "
        "collective 3, in which other ranks wait for it; all ranks were stopped.");
  group.check_nothing_left();
  group.check_outcome(outcome);
}

TEST_CASE("a late rank is waited for") {
  Group group;
  backend::RunRequest request = fake_request("late@2:at_once");
  request.engine.patience = 1s;
  const record::Outcome outcome = group.run(request);
  CHECK(outcome.kind == OutcomeKind::kCompleted);
  for (int rank = 0; rank < kRanks; ++rank) check_whole(*rank_of(*group.backend, rank));
}

TEST_CASE("a rank that dies while it starts ends the run, and no other engine replaces it") {
  Group group({"--die-at-start-as-rank=1"});
  const record::Outcome outcome = group.run("steady");
  CHECK(outcome.kind == OutcomeKind::kEngineLost);
  CHECK(contains(outcome.message, "Rank 1 ended with exit code 127 at its start; its last line was \"libcudart.so.13"));
  CHECK(group.started().size() <= kRanks);
  for (const std::string& pid : group.started()) CHECK_FALSE(alive(pid));
}

TEST_CASE("a program that cannot be started is reported by start()") {
  const auto group = backend::make_rank_group({{"/nonexistent/headroom-engine"}}, kRanks);
  const record::Status refused = group->start(fake_request("steady"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == record::ErrorKind::kEngine);
  CHECK(contains(refused.error().message, "No such file or directory"));
  CHECK(group->state() == RunState::kIdle);
}

TEST_CASE("a missing folder for temporary files is reported by start()") {
  Group group;
  const char* const before = std::getenv("TMPDIR");
  const std::optional<std::string> kept = before != nullptr ? std::optional<std::string>(before) : std::nullopt;
  ::setenv("TMPDIR", (group.folder.path() / "missing").c_str(), 1);
  const record::Status refused = group.backend->start(fake_request("steady"));
  kept ? ::setenv("TMPDIR", kept->c_str(), 1) : ::unsetenv("TMPDIR");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == record::ErrorKind::kNotWritten);
  CHECK(contains(refused.error().message, "set TMPDIR to a folder that you can write to."));
  CHECK(group.started().empty());
}

TEST_CASE("a group that is destroyed during a run leaves nothing") {
  Group group;
  REQUIRE(group.backend->start(fake_request("wait", group.path)).ok());
  REQUIRE(group.wait_for([&] { return group.backend->recording()->marks().size() == 5; }));
  group.backend.reset();
  group.check_nothing_left();
  CHECK(group.folder.entries() == 1);  // pids, and no partial file
}
