// Cancellation: acknowledged at once, quick if the engine responds, forced if it does not.
#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

namespace {

Clock::duration cancel_in_the_middle(backend::Backend& backend, const std::string& mode) {
  REQUIRE(backend.start(fake_request(mode)).ok());
  REQUIRE(wait_for(backend, [&] { return backend.recording()->marks().size() >= 3; }));
  const auto begin = Clock::now();
  backend.cancel();
  CHECK(backend.state() == RunState::kCancelling);
  CHECK(backend.progress().doing == "stopping");
  CHECK(Clock::now() - begin < 500ms);
  REQUIRE(finished(backend));
  const auto took = Clock::now() - begin;
  CHECK(outcome_of(backend).kind == OutcomeKind::kCancelled);
  CHECK(backend.recording()->events().size() >= 3 * kEventsInAPart);
  return took;
}

}  // namespace

TEST_CASE("an engine that reads messages stops at once and takes the next run") {
  const auto engine = backend::make_engine(fake_engine());
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
  const std::string pid = engine->facts().at("pid");
  cancel_in_the_middle(*engine, "endless");
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
  CHECK(engine->facts().at("pid") == pid);
}

TEST_CASE("a run that does not stop is ended by SIGTERM after 2 s") {
  const auto engine = backend::make_engine(fake_engine());
  const auto took = cancel_in_the_middle(*engine, "ignore_cancel");
  CHECK(took > 1900ms);
  CHECK(took < 4500ms);
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("an engine that also ignores SIGTERM is killed after 5 s") {
  const auto engine = backend::make_engine(fake_engine());
  const auto took = cancel_in_the_middle(*engine, GENERATE("ignore_terminate", "hang_for_ever"));
  CHECK(took > 4900ms);
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("an engine that the app ended does not count as a death") {
  // Three SIGTERMs take 6 s; the fourth run must still find an engine.
  const auto engine = backend::make_engine(fake_engine());
  for (int i = 0; i < 3; ++i) cancel_in_the_middle(*engine, "ignore_cancel");
  CHECK_FALSE(engine->trouble());
  CHECK(run_to_end(*engine, "at_once").kind == OutcomeKind::kCompleted);
}

TEST_CASE("a silent engine is reported, and a cancel ends it") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(fake_request("hang")).ok());
  const auto silent = [&] { return engine->progress().doing.find("has sent nothing for") != std::string::npos; };
  REQUIRE(wait_for(*engine, [&] { return engine->recording()->marks().size() == 3; }));
  CHECK_FALSE(silent());
  REQUIRE(wait_for(*engine, silent));
  CHECK(engine->state() == RunState::kRunning);
  engine->cancel();
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCancelled);
}

TEST_CASE("cancelling without a run is a no-op") {
  const auto engine = backend::make_engine(fake_engine());
  engine->cancel();
  CHECK(engine->state() == RunState::kIdle);
  run_to_end(*engine, "at_once");
  engine->cancel();
  CHECK(engine->state() == RunState::kFinished);
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
}
