// The planner answers the newest request with a predicted recording.
#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::RunState;
using record::OutcomeKind;

TEST_CASE("an answer is a recording marked as predicted") {
  const auto planner = backend::make_prediction(fake_engine());
  CHECK(run_to_end(*planner, "at_once").kind == OutcomeKind::kCompleted);
  CHECK(planner->recording()->info().source == record::Source::kPredicted);
  check_whole(*planner->recording());
}

TEST_CASE("the planner is started with --plan") {
  const auto planner = backend::make_prediction(fake_engine());
  const auto runner = backend::make_engine(fake_engine());
  REQUIRE(wait_for(*planner, [&] { return !planner->facts().empty(); }));
  REQUIRE(wait_for(*runner, [&] { return !runner->facts().empty(); }));
  CHECK(planner->facts().contains("planner"));
  CHECK_FALSE(runner->facts().contains("planner"));
}

TEST_CASE("a newer question replaces the pending one") {
  const auto planner = backend::make_prediction(fake_engine());
  REQUIRE(planner->start(fake_request("endless")).ok());
  REQUIRE(wait_for(*planner, [&] { return planner->recording()->marks().size() >= 3; }));
  const auto old = planner->recording();
  const auto old_marks = old->marks().size();
  REQUIRE(planner->start(fake_request("steady")).ok());
  CHECK(planner->recording() != old);
  CHECK(planner->recording()->events().empty());
  REQUIRE(finished(*planner));
  CHECK(outcome_of(*planner).kind == OutcomeKind::kCompleted);
  CHECK(planner->recording()->info().params.at("mode") == "steady");
  check_whole(*planner->recording());
  CHECK(old->marks().size() == old_marks);
}

TEST_CASE("the last of many consecutive questions is answered") {
  const auto planner = backend::make_prediction(fake_engine());
  for (int i = 0; i < 50; ++i) {
    REQUIRE(planner->start(fake_request("endless")).ok());
    planner->poll();
  }
  REQUIRE(planner->start(fake_request("at_once")).ok());
  REQUIRE(finished(*planner));
  CHECK(outcome_of(*planner).kind == OutcomeKind::kCompleted);
  check_whole(*planner->recording());
}

TEST_CASE("a planner stuck in the second of three questions is ended as well") {
  const auto planner = backend::make_prediction(fake_engine());
  REQUIRE(planner->start(fake_request("stop_then_hang")).ok());
  REQUIRE(wait_for(*planner, [&] { return planner->recording()->marks().size() >= 3; }));
  REQUIRE(planner->start(fake_request("at_once")).ok());
  REQUIRE(planner->start(fake_request("at_once")).ok());
  REQUIRE(finished(*planner));
  CHECK(outcome_of(*planner).kind == OutcomeKind::kCompleted);
  check_whole(*planner->recording());
}

TEST_CASE("a planner stuck in an old question is ended, and the new question is asked again") {
  const auto planner = backend::make_prediction(fake_engine());
  REQUIRE(planner->start(fake_request("hang")).ok());
  REQUIRE(wait_for(*planner, [&] { return planner->recording()->marks().size() == 3; }));
  REQUIRE(planner->start(fake_request("at_once")).ok());
  REQUIRE(finished(*planner));
  CHECK(outcome_of(*planner).kind == OutcomeKind::kCompleted);
  check_whole(*planner->recording());
  CHECK_FALSE(planner->trouble());
}
