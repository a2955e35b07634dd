// Traced runs use a separate engine.
#include <fstream>
#include <iterator>

#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

constexpr bool kPlain = false, kTraced = true;

backend::RunRequest request(bool traced, const char* mode = "at_once") {
  backend::RunRequest request = fake_request(mode);
  request.engine.traced = traced;
  return request;
}

// The pids of the engines that a test started.
struct Engines {
  TemporaryFolder folder;
  std::filesystem::path pids = folder.path() / "pids";
  std::unique_ptr<backend::Backend> backend = backend::make_engine(fake_engine({"--pids=" + pids.string()}));

  std::vector<std::string> started() const {
    std::ifstream in(pids);
    return {std::istream_iterator<std::string>(in), {}};
  }
  void run(bool traced) {
    REQUIRE(backend->start(request(traced)).ok());
    REQUIRE(finished(*backend));
    REQUIRE(outcome_of(*backend).kind == OutcomeKind::kCompleted);
    check_whole(*backend->recording());
  }
};

}  // namespace

TEST_CASE("a traced run has a separate engine, which ends when another kind of run starts") {
  Engines engines;
  engines.run(kPlain);
  REQUIRE(engines.started().size() == 1);
  engines.run(kTraced);
  REQUIRE(engines.started().size() == 2);
  const auto traced = engines.backend->recording();
  engines.run(kTraced);
  CHECK(engines.started().size() == 2);
  engines.run(kPlain);
  REQUIRE(engines.started().size() == 2);
  CHECK(alive(engines.started()[0]));

  CHECK_FALSE(alive(engines.started()[1]));
  check_whole(*traced);  // recordings outlive their engine
}

TEST_CASE("a traced run can be cancelled, and no other run starts meanwhile") {
  Engines engines;
  REQUIRE(engines.backend->start(request(kTraced, "endless")).ok());
  REQUIRE(wait_for(*engines.backend, [&] { return engines.backend->state() == RunState::kRunning; }));
  CHECK_FALSE(engines.backend->start(request(kPlain)).ok());
  CHECK(engines.backend->state() == RunState::kRunning);
  engines.backend->cancel();
  REQUIRE(finished(*engines.backend));
  CHECK(outcome_of(*engines.backend).kind == OutcomeKind::kCancelled);
  engines.run(kPlain);
}

TEST_CASE("a lazily started engine reports the machine's facts through another backend") {
  TemporaryFolder folder;
  const std::filesystem::path pids = folder.path() / "pids";
  backend::Machine known;
  const std::unique_ptr<backend::Backend> engine =
      backend::make_engine(fake_engine({"--pids=" + pids.string()}), [&] { return known; });
  CHECK_FALSE(engine->poll());
  CHECK(engine->devices().empty());
  CHECK(engine->recording() == nullptr);
  CHECK(engine->state() == RunState::kIdle);
  known.devices = {
      {.kind = record::DeviceKind::kGpu, .key = "cuda", .name = "Of another", .memory = 1, .free_memory = 1}};
  CHECK(engine->poll());
  CHECK_FALSE(engine->poll());
  REQUIRE(engine->devices().size() == 1);
  CHECK(engine->devices().front().name == "Of another");
  CHECK_FALSE(std::filesystem::exists(pids));
  REQUIRE(engine->start(request(kPlain)).ok());
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  CHECK(std::filesystem::exists(pids));
  REQUIRE_FALSE(engine->devices().empty());
  CHECK(engine->devices().front().name != "Of another");
}
