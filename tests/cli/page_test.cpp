// headroom page: what a page says and shows, as text.
#include "tests/cli/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("A page that calculates prints its figures' tables, without an engine and without a recording") {
  const Ran ran = run_headroom({"page", "static_bytes"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "Training takes sixteen bytes per parameter"));
  CHECK(holds(ran.out, "[x] No: not even one sequence fits"));
  CHECK(holds(ran.out, "\"Weights\",no,\"mixed precision\",3000000000"));
  CHECK(holds(ran.out, "2 × 1,235,814,400"));
  CHECK(holds(ran.out, "settings that the figures follow"));
  const Ran needle = run_headroom({"page", "vocabulary"});
  REQUIRE(needle.exit_code == 0);
  CHECK(holds(needle.out, "23.48"));
}

TEST_CASE("A page prints what its links set, and the words alone of what they show") {
  const Ran ran = run_headroom({"page", "checkpointing"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "Try each k-th layer (checkpointing=every)"));
  CHECK(holds(ran.out, "the teeth of the saw, one per layer"));
  CHECK_FALSE(holds(ran.out, "view:"));
}

TEST_CASE("A page that is not there is named with the nearest one") {
  const Ran ran = run_headroom({"page", "static_byte"});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "static_bytes"));
}
