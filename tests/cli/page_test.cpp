// headroom page: a page's text and figures, as text.
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;

TEST_CASE("A page that calculates prints its figures' tables, without an engine and without a recording") {
  const Ran ran = run_headroom({"page", "static_bytes"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "Mixed-precision training with AdamW takes sixteen bytes"));
  const std::size_t question = ran.out.find("( ) No: the activations do not fit."),
                    answer = ran.out.find("The answer: No: the activations do not fit.");
  REQUIRE(answer != std::string::npos);
  CHECK(question < answer);
  CHECK(ran.out.find("Because") > answer);
  CHECK(holds(ran.out, "\"Weights\",no,\"mixed, loss\",3000000000"));
  CHECK(holds(ran.out, "2 × 1,235,814,400"));
  CHECK(holds(ran.out, "settings that the figures follow"));
  const Ran needle = run_headroom({"page", "vocabulary"});
  REQUIRE(needle.exit_code == 0);
  CHECK(holds(needle.out, "23.48"));
}

TEST_CASE("A long table is shortened unless --data asks for all of it") {
  const Ran part = run_headroom({"page", "where_memory_goes"}), whole = run_headroom({"page", "P.1", "--data"});
  REQUIRE(part.exit_code == 0);
  REQUIRE(whole.exit_code == 0);
  CHECK(part.out.size() < 20'000);
  CHECK(holds(part.out, "more rows: headroom page where_memory_goes --data"));
  CHECK(whole.out.size() > 10 * part.out.size());
}

TEST_CASE("The contents are printed if no page is named, with page numbers that are also names") {
  const Ran contents = run_headroom({"page"});
  REQUIRE(contents.exit_code == 0);
  CHECK(holds(contents.out, "  6.1   loss_paths               Four ways to the loss\n"));
  CHECK(run_headroom({"page", "6.1"}).out == run_headroom({"page", "loss_paths"}).out);
}

TEST_CASE("A page prints the settings of its links, and only the words of links that show something") {
  const Ran ran = run_headroom({"page", "checkpointing"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "Try each k-th layer (checkpointing=every)"));
  CHECK(holds(ran.out, "the teeth of the saw, one per layer"));
  CHECK_FALSE(holds(ran.out, "view:"));
}

TEST_CASE("A page prints its task and goal, and below the answer the closing words") {
  const Ran ran = run_headroom({"page", "low_rank"});
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "Done when: model=llama-3-8b adapters=lora,qlora batch>=4"));
  CHECK(ran.out.find("Once the task is done: ") > ran.out.find("The answer: "));
  // The step's numbers are missing.
  CHECK(holds(run_headroom({"page", "checkpointing"}).out, "Once the task is done: … tokens fit instead of 8,192."));
}

TEST_CASE("A page in the final format prints its goal, its second question with the key, and the notes") {
  const Ran ran = run_headroom({"page", "static_bytes"});
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "After this page: Tell from the parameters"));
  const std::size_t question = ran.out.find("Second question: Llama 3"),
                    answer = ran.out.find("The answer to the second question, by formula (± 5 % counts as right): ");
  REQUIRE(answer != std::string::npos);
  CHECK(question < ran.out.find("The answer: "));
  CHECK(answer > ran.out.find("The answer: "));
  CHECK(holds(ran.out, "for a moment the tied table has two gradients"));  // shown whatever the block's scope
  CHECK(holds(ran.out, "For the presenter: Ask for hands"));
}

TEST_CASE("An unknown page is reported with the nearest one") {
  const Ran ran = run_headroom({"page", "static_byte"});
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "static_bytes"));
}
