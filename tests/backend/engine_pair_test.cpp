// Traced runs use a separate engine.
#include <signal.h>

#include <fstream>
#include <iterator>

#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

constexpr record::ParamSpec kTracedParams[] = {
    {.key = "mode", .label = "Mode", .help = "How the run goes.", .kind = record::ParamKind::kFile},
    {.key = "trace", .label = "Trace", .help = "Trace it.", .kind = record::ParamKind::kSwitch}};

backend::RunRequest request(const char* trace, const char* mode = "at_once") {
  record::Params params(kTracedParams);
  REQUIRE(params.set("mode", std::string_view(mode)).ok());
  REQUIRE(params.set("trace", std::string_view(trace)).ok());
  return {.demo = "fake", .params = params, .record_to = {}};
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
  void run(const char* trace) {
    REQUIRE(backend->start(request(trace)).ok());
    REQUIRE(finished(*backend));
    REQUIRE(outcome_of(*backend).kind == OutcomeKind::kCompleted);
    CHECK(backend->recording()->info().params.at("trace") == trace);
    check_whole(*backend->recording());
  }
};

bool alive(const std::string& pid) { return ::kill(std::stoi(pid), 0) == 0; }

}  // namespace

TEST_CASE("a traced run has a separate engine, which goes with the next other run") {
  Engines engines;
  engines.run("off");
  REQUIRE(engines.started().size() == 1);
  engines.run("on");
  REQUIRE(engines.started().size() == 2);
  const auto traced = engines.backend->recording();
  engines.run("on");
  CHECK(engines.started().size() == 2);  // already running
  engines.run("off");
  REQUIRE(engines.started().size() == 2);
  CHECK(alive(engines.started()[0]));

  CHECK_FALSE(alive(engines.started()[1]));
  check_whole(*traced);  // recordings outlive their engine
}

TEST_CASE("a traced run can be cancelled, and no other starts meanwhile") {
  Engines engines;
  REQUIRE(engines.backend->start(request("on", "endless")).ok());
  REQUIRE(wait_for(*engines.backend, [&] { return engines.backend->state() == RunState::kRunning; }));
  CHECK_FALSE(engines.backend->start(request("off")).ok());
  CHECK(engines.backend->state() == RunState::kRunning);
  engines.backend->cancel();
  REQUIRE(finished(*engines.backend));
  CHECK(outcome_of(*engines.backend).kind == OutcomeKind::kCancelled);
  engines.run("off");
}

TEST_CASE("an engine that starts with the first run leaves it to another to say what the machine has") {
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
  CHECK_FALSE(std::filesystem::exists(pids));  // no process yet
  REQUIRE(engine->start(request("off")).ok());
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  CHECK(std::filesystem::exists(pids));
  REQUIRE_FALSE(engine->devices().empty());
  CHECK(engine->devices().front().name != "Of another");
}
