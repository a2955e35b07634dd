// headroom bench: what it refuses before anything runs.
#include <string>

#include "tests/cli/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;

namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bench refuses what it does not know, with the nearest word") {
  const Ran kernel = run_headroom({"bench", "rms_nrm"});
  CHECK(kernel.exit_code == 2);
  CHECK(kernel.out == "");
  CHECK(holds(kernel.err, "the nearest is rms_norm"));
  const Ran key = run_headroom({"bench", "--set", "stroage=bf16"});
  CHECK(key.exit_code == 2);
  CHECK(holds(key.err, "storage"));
  CHECK(run_headroom({"bench", "--device", "tpu"}).exit_code == 2);
  CHECK(run_headroom({"bench", "--time-limit", "soon"}).exit_code == 2);
}

TEST_CASE("bench says first that its recording cannot be written") {
  const Ran ran = run_headroom({"bench", "rms_norm", "--record", "/no/such/folder/b.hrec"});
  CHECK(ran.exit_code == 6);
}

TEST_CASE("bench gives a program its one document when nothing came of it") {
  const Ran ran = run_headroom({"bench", "nothing", "--json"});
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.find("\"exit_code\": 2") != std::string::npos);
}
