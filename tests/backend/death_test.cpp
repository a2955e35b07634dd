// When an engine dies, the run keeps what arrived and reports the cause; a new engine starts, but not endlessly.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>

#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

std::vector<pid_t> pids_in(const std::filesystem::path& path) {
  std::vector<pid_t> pids;
  std::ifstream file(path);
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

TEST_CASE("a run whose engine dies keeps its data and the cause, and the next run works") {
  const auto [mode, how] = GENERATE(table<std::string, std::string>({
      {"sigkill", "was killed by SIGKILL"},
      {"sigsegv", "was killed by SIGSEGV"},
      {"exit_3", "ended with exit code 3; its last line was \"CUDA error: an illegal memory access was encountered\""},
      {"close_output", "closed its output"},
      {"broken_stream", "sent bytes that are not a message"},
      {"flood", "sent 100 invalid messages and was stopped"},
  }));
  CAPTURE(mode);
  const auto engine = backend::make_engine(fake_engine());
  const auto outcome = run_to_end(*engine, mode);
  CHECK(outcome.kind == OutcomeKind::kEngineLost);
  INFO(outcome.message);
  CHECK(contains(outcome.message, how));
  CHECK(engine->recording()->events().size() == 3 * kEventsInAPart);
  CHECK(engine->recording()->marks().size() == 3);
  const auto lost = engine->recording();
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
  check_whole(*engine->recording());
  CHECK(lost->events().size() == 3 * kEventsInAPart);
}

TEST_CASE("the cause of an engine's death is known even if this program started with SIGCHLD ignored") {
  ::signal(SIGCHLD, SIG_IGN);
  const auto engine = backend::make_engine(fake_engine());
  const auto outcome = run_to_end(*engine, "sigkill");
  ::signal(SIGCHLD, SIG_DFL);
  CHECK(outcome.kind == OutcomeKind::kEngineLost);
  CHECK(contains(outcome.message, "was killed by SIGKILL"));
}

TEST_CASE("the file of a lost run contains all data that arrived") {
  const TemporaryFolder folder;
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("sigkill", folder.path() / "run.hrec")).ok());
  REQUIRE(finished(*engine));
  CHECK_FALSE(engine->write_error());
  const auto stored = record::Recording::read(folder.path() / "run.hrec");
  REQUIRE(stored.ok());
  CHECK(stored.value().events().size() == 3 * kEventsInAPart);
  REQUIRE(stored.value().outcome());
  CHECK(stored.value().outcome()->kind == OutcomeKind::kEngineLost);
}

TEST_CASE("an engine killed from outside while it waits is replaced at once") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(wait_for(*engine, [&] { return engine->facts().contains("pid"); }));
  const std::string pid = engine->facts().at("pid");
  ::kill(std::stoi(pid), SIGKILL);
  REQUIRE(wait_for(*engine, [&] { return engine->facts().at("pid") != pid; }));
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("an idle engine that closes its output is replaced") {
  const auto engine = backend::make_engine(fake_engine({"--close-output"}));
  REQUIRE(wait_for(*engine, [&] { return engine->facts().contains("pid"); }));
  const std::string pid = engine->facts().at("pid");
  CHECK(wait_for(*engine, [&] { return engine->facts().at("pid") != pid; }));
}

TEST_CASE("an engine that misses a library names it, and is not started again") {
  const TemporaryFolder folder;
  const std::string starts = (folder.path() / "starts").string();
  const std::string program = "echo started >>" + starts +
                              "; echo 'engine: error while loading shared libraries: libnccl.so.2: cannot open shared "
                              "object file: No such file or directory' >&2; exit 127";
  const auto engine = backend::make_engine({{"/bin/sh", "-c", program}});
  REQUIRE(wait_for(*engine, [&] { return engine->trouble().has_value(); }));
  CHECK(
      *engine->trouble() ==
      "The engine cannot start, because the library libnccl.so.2 is missing. Install it, or build Headroom again with "
      "./run.");
  for (int i = 0; i < 20; ++i) {
    engine->poll();
    std::this_thread::sleep_for(5ms);
  }
  std::ifstream file(starts);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  CHECK(lines == 1);
}

TEST_CASE("after three deaths in two minutes no engine is started") {
  const TemporaryFolder folder;
  const auto pids = folder.path() / "pids";
  const auto engine = backend::make_engine(fake_engine({"--pids=" + pids.string(), "--die-at-start"}));
  REQUIRE(engine->start(fake_request("at_once")).ok());
  REQUIRE(finished(*engine));
  REQUIRE(engine->trouble());
  CHECK(contains(*engine->trouble(), "died 3 times in two minutes"));
  CHECK(contains(*engine->trouble(), "exit code 127; its last line was \"libcudart.so.13"));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kEngineLost);
  CHECK(pids_in(pids).size() == 3);
  const auto refused = engine->start(fake_request("at_once"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == record::ErrorKind::kEngine);
  CHECK(refused.error().message == *engine->trouble());
  for (int i = 0; i < 20; ++i) {
    engine->poll();
    std::this_thread::sleep_for(5ms);
  }
  CHECK(pids_in(pids).size() == 3);
}

TEST_CASE("an engine is restarted after two deaths, but not after a third") {
  const auto engine = backend::make_engine(fake_engine());
  for (int deaths = 1; deaths <= 3; ++deaths) {
    CAPTURE(deaths);
    CHECK(run_to_end(*engine, "sigkill").kind == OutcomeKind::kEngineLost);
    CHECK(engine->trouble().has_value() == (deaths == 3));
  }
}

TEST_CASE("an engine that exits after its run does not count as a death, and a run sent to it meanwhile is not lost") {
  const auto engine = backend::make_engine(fake_engine());
  for (int runs = 0; runs < 4; ++runs) {
    CAPTURE(runs);
    CHECK(run_to_end(*engine, "retire").kind == OutcomeKind::kCompleted);
    check_whole(*engine->recording());
  }
  CHECK_FALSE(engine->trouble());
}

TEST_CASE("a program that is not an engine of this version is reported as trouble") {
  const auto [arguments, reason] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"/nonexistent/headroom-engine"}, "No such file or directory"},
      {{"headroom-engine-that-is-not-there"}, "No such file or directory"},
      {{HEADROOM_SOURCE_DIR "/CMakeLists.txt"}, "Permission denied"},
      {{"echo", "Welcome to this machine"}, "does not behave like an engine"},
      {{FAKE_ENGINE, "--other-version"}, "protocol version 1; this program speaks 3"},
      {{FAKE_ENGINE, "--chunk-first"}, "its first message is not a greeting"},
  }));
  CAPTURE(arguments);
  const auto engine = backend::make_engine({arguments});
  REQUIRE(wait_for(*engine, [&] { return engine->trouble().has_value(); }));
  INFO(*engine->trouble());
  CHECK(contains(*engine->trouble(), reason));
  CHECK_FALSE(engine->start(fake_request("at_once")).ok());
}

TEST_CASE("the engine ends with its backend") {
  pid_t pid = 0;
  {
    const auto engine = backend::make_engine(fake_engine({"--ignore-input"}));
    REQUIRE(wait_for(*engine, [&] { return engine->facts().contains("pid"); }));
    pid = std::stoi(engine->facts().at("pid"));
    REQUIRE(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("an engine outlives a killed app by less than 2 s, even if it never reads") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // adopts the orphan, to wait for it
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t app = ::fork();
  if (app == 0) {
    const auto engine = backend::make_engine(fake_engine({"--ignore-input"}));
    while (!engine->facts().contains("pid")) engine->poll();
    const pid_t pid = std::stoi(engine->facts().at("pid"));
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &pid, sizeof pid);
    for (;;) ::pause();
  }
  pid_t engine = 0;
  REQUIRE(::read(ends[0], &engine, sizeof engine) == sizeof engine);
  REQUIRE(::kill(engine, 0) == 0);
  ::kill(app, SIGKILL);
  ::waitpid(app, nullptr, 0);
  const auto begin = Clock::now();
  int status = 0;
  pid_t gone = 0;
  while ((gone = ::waitpid(engine, &status, WNOHANG)) == 0 && Clock::now() - begin < kPatience)
    std::this_thread::sleep_for(5ms);
  CHECK(gone == engine);
  if (gone != engine) ::kill(engine, SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}
