// Sweeps with the real engine on the CPU.
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;
using nlohmann::json;

TEST_CASE("a batch that does not fit fails only its point, and the next one runs in a new engine") {
  const Ran ran = run_headroom({"sweep", "train_step", "--over", "batch=1,64,1024,2", "--set", "seq=64", "cap=80MiB",
                                "--device", "cpu", "--json"},
                               with_real_engine());
  INFO(ran.err);
  CHECK(ran.exit_code == 2);  // 1024 is out of range: nothing ran
  const Ran fits = run_headroom(
      {"sweep", "train_step", "--over", "batch=1,64,2", "--set", "seq=64", "cap=80MiB", "--device", "cpu", "--json"},
      with_real_engine());
  INFO(fits.err);
  REQUIRE(fits.exit_code == 0);
  const json points = json::parse(fits.out)["points"];
  REQUIRE(points.size() == 3);
  CHECK(points[0]["outcome"] == "completed");
  CHECK(points[1]["outcome"] == "out_of_memory");
  CHECK(points[2]["outcome"] == "completed");
  CHECK(points[1]["peak_bytes"].get<std::int64_t>() <= 80 << 20);
  CHECK(points[2]["peak_bytes"].get<std::int64_t>() > points[0]["peak_bytes"].get<std::int64_t>());
  CHECK(points[0]["tokens_per_second"].get<double>() > 0);
}

TEST_CASE("the ladder runs to its last rung, which needs less memory than the first") {
  const Ran ran =
      run_headroom({"sweep", "ladder", "--set", "seq=64", "steps=2", "--device", "cpu", "--json"}, with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json points = json::parse(ran.out)["points"];
  REQUIRE(points.size() >= 8);
  for (const json& point : points) {
    INFO(point["label"].get<std::string>() + " " + point["message"].get<std::string>());
    CHECK(point["outcome"] == "completed");
  }
  CHECK(points.back()["peak_bytes"].get<std::int64_t>() * 4 < points.front()["peak_bytes"].get<std::int64_t>());
}
