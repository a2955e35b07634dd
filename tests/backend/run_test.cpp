// Successful runs, bad messages and a full disk.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

// Simulates a full disk for this process: no file may exceed `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_action_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_action_);
  }

 private:
  rlimit before_{};
  sighandler_t before_action_;
};

}  // namespace

TEST_CASE("an engine starts at once, greets and waits") {
  const auto engine = backend::make_engine(fake_engine());
  CHECK(engine->state() == RunState::kIdle);
  CHECK(engine->recording() == nullptr);
  CHECK(engine->devices().empty());
  REQUIRE(wait_for(*engine, [&] { return !engine->devices().empty(); }));
  CHECK(engine->devices()[0].name == "CPU, fake");
  CHECK(engine->facts().at("torch") == "none");
  CHECK(std::stol(engine->facts().at("pid")) > 1);
  CHECK_FALSE(engine->trouble());
}

TEST_CASE("an engine's process has the environment and descriptors that it needs") {
  // Children inherit the descriptors that this process inherited.
  int inherited = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++inherited;
  }
  const auto other = backend::make_engine(fake_engine());
  const auto engine = backend::make_engine(fake_engine({"--print-environment"}));
  REQUIRE(wait_for(*engine, [&] { return !engine->devices().empty(); }));
  CHECK(engine->facts().at("omp_wait_policy") == "passive");
  CHECK(engine->facts().at("group_leader") == "yes");
  // The engine adds only its duplicate of stdout. An inherited pipe would keep the other engine alive.
  CHECK(engine->facts().at("open_descriptors") == std::to_string(inherited + 1));
}

TEST_CASE("a run arrives completely, with its progress") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("steady")).ok());
  CHECK(engine->state() == RunState::kStarting);
  REQUIRE(engine->recording());
  CHECK(engine->recording()->info().demo == "fake");
  REQUIRE(wait_for(*engine, [&] { return engine->progress().step == 4; }));
  CHECK(engine->state() == RunState::kRunning);
  CHECK(engine->progress().steps == kFakeParts);
  CHECK(engine->progress().fraction == Approx(0.4));
  CHECK(engine->progress().time_left == 1'000'000);
  CHECK(engine->progress().doing == "part 4");
  CHECK_FALSE(engine->recording()->outcome());
  CHECK(engine->recording()->events().size() >= 5 * kEventsInAPart);
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  CHECK(engine->recording()->info().source == record::Source::kLive);
  CHECK(engine->recording()->info().provenance.at("engine") == "fake");
  CHECK(engine->recording()->info().params.at("mode") == "steady");
  CHECK(engine->progress().fraction == 1);
  check_whole(*engine->recording());
}

TEST_CASE("a run may be started before the engine has greeted") {
  const auto engine = backend::make_engine(fake_engine({"--late"}));
  REQUIRE(engine->start(fake_request("at_once")).ok());
  CHECK(engine->progress().doing == "starting the engine");
  REQUIRE(finished(*engine));
  check_whole(*engine->recording());
}

TEST_CASE("runs are exclusive, and each has a new recording") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("steady")).ok());
  const auto refused = engine->start(fake_request("steady"));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == record::ErrorKind::kRefused);
  REQUIRE(finished(*engine));
  const auto first = engine->recording();
  REQUIRE(engine->start(fake_request("at_once")).ok());
  CHECK(engine->recording() != first);
  REQUIRE(finished(*engine));
  check_whole(*first);
  check_whole(*engine->recording());
}

TEST_CASE("no call blocks on the engine") {
  const auto begin = Clock::now();
  const auto engine = backend::make_engine(fake_engine({"--no-hello"}));
  REQUIRE(engine->start(fake_request("steady")).ok());
  for (int i = 0; i < 100; ++i) engine->poll();
  engine->cancel();
  CHECK(Clock::now() - begin < 60s);  // the engine never greets; the app gives up after 90 s
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCancelled);
}

TEST_CASE("a refusal is an outcome with its reason") {
  const auto engine = backend::make_engine(fake_engine());
  const auto refused = run_to_end(*engine, "refuse");
  CHECK(refused.kind == OutcomeKind::kRefused);
  CHECK(refused.message == "The batch is too large.");
  CHECK(run_to_end(*engine, "unread").kind == OutcomeKind::kRefused);
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("a refusal by an engine of another build mentions the builds, and a successful run does not") {
  const auto engine = backend::make_engine(fake_engine({"--other-build"}));
  const auto refused = run_to_end(*engine, "refuse");
  CHECK(refused.kind == OutcomeKind::kRefused);
  CHECK(refused.message.starts_with("The batch is too large. App ("));
  CHECK(refused.message.ends_with("and engine (0123456789ab) come from different builds; rebuild both with ./run."));
  CHECK(run_to_end(*engine, "at_once").message.empty());
}

TEST_CASE("out of memory is an outcome with its facts") {
  const auto engine = backend::make_engine(fake_engine());
  const auto outcome = run_to_end(*engine, "out_of_memory");
  CHECK(outcome.kind == OutcomeKind::kOutOfMemory);
  REQUIRE(outcome.out_of_memory);
  CHECK(outcome.out_of_memory->requested == record::kGiB);
}

TEST_CASE("an invalid message is refused, and the recording is not complete") {
  const std::string mode = GENERATE("malformed", "unknown_kind", "damaged_chunk");
  CAPTURE(mode);
  const auto engine = backend::make_engine(fake_engine());
  const auto outcome = run_to_end(*engine, mode);
  CHECK(outcome.kind == OutcomeKind::kFailed);
  CHECK(outcome.message.find("was invalid: ") != std::string::npos);
  check_whole(*engine->recording());  // the rejected message is an extra one, so the run itself loses nothing
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("the file of a run is readable even if the run's first message was damaged") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run.hrec";
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("damaged_info", path)).ok());
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kFailed);
  const auto stored = record::Recording::read(path);
  REQUIRE(stored.ok());
  check_whole(stored.value());
  CHECK(stored.value().info().demo == "fake");
  CHECK(stored.value().info().params.at("mode") == "damaged_info");
}

TEST_CASE("messages of another run are ignored") {
  const auto engine = backend::make_engine(fake_engine());
  CHECK(run_to_end(*engine, "other_run").kind == OutcomeKind::kCompleted);
  check_whole(*engine->recording());
}

TEST_CASE("any amount of printed output from the engine is harmless") {
  const auto engine = backend::make_engine(fake_engine());
  CHECK(run_to_end(*engine, "junk").kind == OutcomeKind::kCompleted);
  check_whole(*engine->recording());
}

TEST_CASE("a run is written as it arrives, and the file equals the received data") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run.hrec";
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("steady", path)).ok());
  REQUIRE(wait_for(*engine, [&] { return engine->progress().step == 3; }));
  CHECK(folder.entries() == 1);
  CHECK_FALSE(std::filesystem::exists(path));
  REQUIRE(finished(*engine));
  CHECK_FALSE(engine->write_error());
  CHECK(folder.entries() == 1);
  const auto stored = record::Recording::read(path);
  REQUIRE(stored.ok());
  CHECK((stored.value().events() == engine->recording()->events()));
  CHECK((stored.value().marks() == engine->recording()->marks()));
  REQUIRE(stored.value().outcome());
  CHECK(stored.value().outcome()->kind == OutcomeKind::kCompleted);
  CHECK(stored.value().info().params == engine->recording()->info().params);
}

TEST_CASE("a run that never started writes no file and keeps an older one unchanged") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run.hrec";
  const auto never_begins = [&] {
    const auto engine = backend::make_engine(fake_engine());
    for (const std::string mode : {"refuse", "unfit"}) {
      CAPTURE(mode);
      REQUIRE(engine->start(fake_request(mode, path)).ok());
      REQUIRE(finished(*engine));
      CHECK(outcome_of(*engine).kind == OutcomeKind::kRefused);
    }
    const auto late = backend::make_engine(fake_engine({"--late"}));
    REQUIRE(late->start(fake_request("at_once", path)).ok());
    late->cancel();
    CHECK(outcome_of(*late).kind == OutcomeKind::kCancelled);
    const auto dead = backend::make_engine(fake_engine({"--die-at-start"}));
    REQUIRE(dead->start(fake_request("at_once", path)).ok());
    REQUIRE(finished(*dead));
    CHECK(outcome_of(*dead).kind == OutcomeKind::kEngineLost);
    for (const auto* each : {&engine, &late, &dead}) CHECK_FALSE((*each)->write_error());
  };
  never_begins();
  CHECK(folder.entries() == 0);

  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("at_once", path)).ok());
  REQUIRE(finished(*engine));
  never_begins();
  CHECK(folder.entries() == 1);
  const auto stored = record::Recording::read(path);
  REQUIRE(stored.ok());
  check_whole(stored.value());
}

TEST_CASE("a missing folder fails the file, not the run") {
  const TemporaryFolder folder;
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("at_once", folder.path() / "missing" / "run.hrec")).ok());
  REQUIRE(engine->write_error());
  CHECK(engine->write_error()->kind == record::ErrorKind::kNotWritten);
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  check_whole(*engine->recording());
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
  CHECK_FALSE(engine->write_error());
}

TEST_CASE("a full disk keeps the old file, leaves no partial file, and does not stop the run") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "run.hrec";
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("at_once", path)).ok());
  REQUIRE(finished(*engine));
  const auto old_size = std::filesystem::file_size(path);

  const FileSizeLimit limit(old_size / 2);
  REQUIRE(engine->start(fake_request("steady", path)).ok());
  REQUIRE(wait_for(*engine, [&] { return engine->write_error().has_value(); }));
  CHECK(engine->write_error()->kind == record::ErrorKind::kNotWritten);
  CHECK(engine->state() == RunState::kRunning);
  CHECK(folder.entries() == 1);
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  check_whole(*engine->recording());
  CHECK(folder.entries() == 1);
  CHECK(std::filesystem::file_size(path) == old_size);
}
