// headroom bench: refusals before anything runs.
#include <string>

#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;

TEST_CASE("bench refuses unknown names and suggests the nearest one") {
  const Ran kernel = run_headroom({"bench", "rms_nrm"});
  CHECK(kernel.exit_code == 2);
  CHECK(kernel.out == "");
  CHECK(holds(kernel.err, "the nearest is rms_norm"));
  const Ran key = run_headroom({"bench", "--set", "stroage=bf16"});
  CHECK(key.exit_code == 2);
  CHECK(holds(key.err, "storage"));
  CHECK(run_headroom({"bench", "--device", "tpu"}).exit_code == 2);
  CHECK(holds(run_headroom({"bench", "rms_norm", "train_step"}).err, "remove the other kernels"));
  CHECK(holds(run_headroom({"bench", "products", "rms_norm"}).err, "remove the other kernels"));
  CHECK(holds(run_headroom({"bench", "products", "--set", "format=fp9"}).err, "fp8"));
  CHECK(run_headroom({"bench", "--time-limit", "soon"}).exit_code == 2);
}

TEST_CASE("bench reports an unwritable recording before it measures") {
  const Ran ran = run_headroom({"bench", "rms_norm", "--record", "/no/such/folder/b.hrec"});
  CHECK(ran.exit_code == 6);
}

TEST_CASE("bench prints one JSON document even if it measured nothing") {
  const Ran ran = run_headroom({"bench", "nothing", "--json"});
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.find("\"exit_code\": 2") != std::string::npos);
}

TEST_CASE("an interrupted comparison reports the cause and exits with its code") {
  RunOptions endless;
  endless.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  endless.environment["HEADROOM_SCRIPT"] = "cancelled";
  for (const char* what : {"step", "train_step"}) {
    const Ran late = run_headroom({"bench", what, "--time-limit", "0.5", "--json"}, endless);
    INFO(what << ": " << late.err);
    CHECK(late.exit_code == 5);
    CHECK(holds(late.err, "time limit of 0.5 s"));
    CHECK(holds(late.out, "\"exit_code\": 5"));
    RunOptions interrupted = endless;
    interrupted.send_interrupt_at = "step 1 of 2";
    const Ran stopped = run_headroom({"bench", what}, interrupted);
    CHECK(stopped.exit_code == 130);
    CHECK(holds(stopped.err, "Interrupted"));
  }
}

TEST_CASE("bench train_step refuses a bad combination and --record before it measures") {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  options.environment["HEADROOM_SCRIPT"] = "killed";  // a run would exit with 7
  const Ran ran = run_headroom({"bench", "train_step", "--set", "offload.checkpoints=on"}, options);
  CHECK(ran.exit_code == 3);
  CHECK(holds(ran.err, "there are no checkpoints to move"));
  const Ran kept = run_headroom({"bench", "train_step", "--record", "/tmp/never.hrec"}, options);
  CHECK(kept.exit_code == 2);
  CHECK(holds(kept.err, "remove --record"));
  for (const char* other : {"adapters=lora", "optimizer=adamw_8bit", "optimizer=galore"}) {
    const Ran bound = run_headroom({"bench", "train_step", "--set", other}, options);
    INFO(other << ": " << bound.err);
    CHECK(bound.exit_code == 2);
    CHECK(holds(bound.err, "AdamW on all weights"));
  }
}
