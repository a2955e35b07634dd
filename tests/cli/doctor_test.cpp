// headroom doctor: what works, what is missing, and the cure.
#include <filesystem>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;
using nlohmann::json;

namespace {

json check_of(const std::string& name, const RunOptions& options) {
  const json document = json::parse(run_headroom({"doctor", "--json"}, options).out);
  for (const json& check : document["checks"])
    if (check["name"] == name) return check;
  return {};
}

// A fake driver; the scripted engine has only a CPU.
RunOptions with_driver(const std::string& version, const std::string& gpus) {
  RunOptions options;
  options.environment["LD_LIBRARY_PATH"] = HEADROOM_FAKE_DRIVER;
  options.environment["FAKE_DRIVER"] = version;
  options.environment["FAKE_GPUS"] = gpus;
  options.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  return options;
}

}  // namespace

TEST_CASE("doctor reports what exists, what is missing and the cure") {
  const Ran ran = run_headroom({"doctor", "--json"});
  const json document = json::parse(ran.out);
  std::map<std::string, json> checks;
  for (const json& check : document["checks"]) checks[check["name"]] = check;
  for (const char* name : {"headroom", "system", "driver", "engine", "devices", "assets", "fonts", "window", "disk"})
    REQUIRE(checks.count(name) == 1);
  // program.cpp names a missing engine and hides the display.
  CHECK(checks["engine"]["status"] == "note");
  CHECK(holds(checks["engine"]["value"], "/nowhere/headroom-engine"));
  CHECK_FALSE(checks["engine"]["cure"].get<std::string>().empty());
  CHECK(checks["window"]["status"] == "note");
  CHECK(checks["fonts"]["status"] == "ok");
  CHECK(document["ok"] == true);
  CHECK(ran.exit_code == 0);

  const Ran people = run_headroom({"doctor"});
  CHECK(people.exit_code == 0);
  CHECK(holds(people.out, "to fix it: "));
}

TEST_CASE("doctor fails if a required part is missing") {
  const TemporaryFolder folder;
  RunOptions lost;
  lost.environment["HEADROOM_ASSETS"] = folder / "assets";
  const Ran ran = run_headroom({"doctor"}, lost);
  CHECK(ran.exit_code == 1);
  CHECK(holds(ran.out, "problem  assets"));
}

TEST_CASE("doctor names a script's unknown technique with file and line") {
  namespace fs = std::filesystem;
  const TemporaryFolder tree;
  fs::create_directory_symlink(fs::path(HEADROOM_SOURCE_DIR) / "assets", tree / "assets");
  fs::create_directory(tree / "tools");
  std::ofstream(tree / "tools/record.sh") << "technique() {\n}\ntechnique flce\n  technique flcee batch=4\n";
  RunOptions options;
  options.environment["HEADROOM_ASSETS"] = tree / "assets";
  const Ran ran = run_headroom({"doctor"}, options);
  CHECK(ran.exit_code == 1);
  CHECK(holds(ran.out, "tools/record.sh:4: the table of techniques has no flcee."));
  CHECK_FALSE(holds(ran.out, "has no flce."));
  CHECK_FALSE(holds(ran.out, "record.sh:1"));
}

TEST_CASE("doctor reports how several GPUs reach each other") {
  CHECK(holds(check_of("ranks", with_driver("580.82.07", "1"))["value"], "1 GPU: runs of several ranks use the CPU"));
  const json four = check_of("ranks", with_driver("580.82.07", "4"));
  CHECK(four["status"] == "ok");
  CHECK(holds(four["value"], "up to 4 GPUs, 12 NVLinks each"));
  CHECK(holds(four["value"], "all read each other's memory"));
  RunOptions options = with_driver("580.82.07", "4");
  options.environment["FAKE_APART"] = "2";
  const json apart = check_of("ranks", options);
  CHECK(apart["status"] == "note");
  CHECK(holds(apart["value"], "GPUs 0 and 2 do not read each other's memory"));
}

TEST_CASE("doctor reports what the driver supports") {
  const json good = check_of("driver", with_driver("580.82.07", "1"));
  CHECK(good["status"] == "ok");
  CHECK(good["value"] == "NVIDIA 580.82.07; Made-up GPU, 80.0 GiB (79.0 GiB free)");
  const json old = check_of("driver", with_driver("570.10", "1"));
  CHECK(old["status"] == "note");
  CHECK(holds(old["cure"], "install driver 580"));
  const json blind = check_of("driver", with_driver("580.82.07", "0"));
  CHECK(blind["status"] == "note");
  CHECK(holds(blind["value"], "reports no GPU"));
}

TEST_CASE("doctor finds a GPU that the local engine cannot use, and expects none of a remote engine") {
  RunOptions options = with_driver("580.82.07", "1");
  CHECK(check_of("devices", options)["status"] == "problem");
  CHECK(run_headroom({"doctor"}, options).exit_code == 1);
  CHECK(check_of("devices", with_driver("580.82.07", "0"))["status"] == "ok");

  options.environment["HEADROOM_ENGINE"] = "/usr/bin/env " + std::string(HEADROOM_SCRIPTED_ENGINE);
  CHECK(check_of("devices", options)["status"] == "ok");
  CHECK(run_headroom({"doctor"}, options).exit_code == 0);
}
