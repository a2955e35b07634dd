// A run with patience has a separate engine, which is killed if it makes no progress.
#include "tests/backend/support.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::OutcomeKind;

backend::RunRequest with_deadline(const std::string& mode) {
  backend::RunRequest request = fake_request(mode);
  request.engine.patience = 1s;
  return request;
}

}  // namespace

TEST_CASE("a hanging run is killed at its deadline each time, without an effect on the other engine") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(run_to_end(*engine, "").kind == OutcomeKind::kCompleted);
  const std::string pid = engine->facts().at("pid");
  for (int i = 0; i < 4; ++i) {  // more often than an engine may die on its own
    CAPTURE(i);
    const auto begun = Clock::now();
    REQUIRE(engine->start(with_deadline(i % 2 == 0 ? "hang" : "hang_for_ever")).ok());
    REQUIRE(finished(*engine));
    CHECK(Clock::now() - begun >= 1s);
    CHECK(outcome_of(*engine).kind == OutcomeKind::kFailed);
    CHECK(outcome_of(*engine).message.find("1 s") != std::string::npos);
    CHECK(engine->recording()->marks().size() == 3);
  }
  REQUIRE(engine->start(with_deadline("")).ok());
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCompleted);
  CHECK(run_to_end(*engine, "").kind == OutcomeKind::kCompleted);
  CHECK(engine->facts().at("pid") == pid);
}

TEST_CASE("a run that makes progress outlives its deadline") {
  const auto engine = backend::make_engine(fake_engine());
  REQUIRE(engine->start(with_deadline("endless")).ok());
  CHECK_FALSE(finished(*engine, 2s));
  engine->cancel();
  REQUIRE(finished(*engine));
  CHECK(outcome_of(*engine).kind == OutcomeKind::kCancelled);
}
