// Help, version, list, and messages about unknown words.
#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"

using namespace headroom::tests;
using nlohmann::json;

namespace {

// One sentence on stderr, nothing on stdout.
void refused(const std::vector<std::string>& arguments, int exit_code, const std::vector<std::string>& parts) {
  const Ran ran = run_headroom(arguments);
  INFO(ran.err);
  CHECK(ran.exit_code == exit_code);
  CHECK(ran.out.empty());
  CHECK(ran.err.starts_with("headroom: "));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  for (const std::string& part : parts) CHECK(holds(ran.err, part));
}

}  // namespace

TEST_CASE("the option --version prints the version") {
  const Ran ran = run_headroom({"--version"});
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.starts_with("headroom 0."));
  CHECK(ran.err.empty());
}

TEST_CASE("the option --help lists the commands and the exit codes") {
  const Ran ran = run_headroom({"--help"});
  CHECK(ran.exit_code == 0);
  for (const char* word : {"list", "run", "figures", "doctor"}) CHECK(holds(ran.out, word));
  for (const char* code : {"0 done", "1 a figure", "2 cannot", "3 no suitable", "4 out of memory", "5 time limit",
                           "6 output", "7 the engine", "130 interrupted"})
    CHECK(holds(ran.out, code));
  const Ran run_help = run_headroom({"run", "--help"});
  CHECK(run_help.exit_code == 0);
  CHECK(holds(run_help.out, "--fail-on-oom"));
}

TEST_CASE("Unknown words are named, with the nearest known one") {
  refused({"figurs"}, 2, {"\"figurs\"", "figures"});
  refused({"--verson"}, 2, {"\"--verson\"", "--version", "headroom --help"});
  refused({"figures", "--formt=svg", "--out", "out"}, 2, {"\"--formt\"", "--format"});
  refused({"run", "train_step", "--recrod", "a.hrec"}, 2, {"\"--recrod\"", "--record"});
  refused({"run", "train_stop"}, 2, {"\"train_stop\"", "train_step"});
  refused({"run"}, 2, {"train_step", "headroom list"});
  refused({"run", "--set", "batch=0", "train_step"}, 2, {"batch=0", "from 1 to"});
  refused({"run", "train_step", "--set", "bach=4"}, 2, {"\"bach\"", "batch"});
  refused({"run", "train_step", "--set", "model=huge"}, 2, {"huge", "llama-3.2-1b"});
  refused({"run", "train_step", "--set", "hidden_size=512", "--set", "model=custom", "--set", "weights=folder"}, 2,
          {"weights already decides hidden_size", "remove hidden_size or weights"});
  refused({"run", "train_step", "--set", "batch"}, 2, {"batch", "key=value"});
  refused({"run", "train_step", "--device", "tpu"}, 2, {"tpu", "cuda"});
  refused({"figures", "memory_timelin", "--out", "out"}, 2, {"\"memory_timelin\"", "memory_timeline"});
  refused({"list", "all"}, 2, {"\"all\"", "headroom list --help"});
}

TEST_CASE("The nearest name to an unknown word is one that contains it") {
  const Ran figure = run_headroom({"figures", "ladder", "--out", "/no/such/folder"});
  CHECK(figure.exit_code == 2);
  CHECK(figure.err.find("the nearest is bandwidth_ladder") != std::string::npos);
}

TEST_CASE("A value out of range is refused with the range") {
  refused({"run", "train_step", "--set", "batch=0"}, 2, {"batch=0", "from 1 to"});
  refused({"run", "train_step", "--set", "batch=four"}, 2, {"batch=four", "from 1 to"});
  refused({"run", "train_step", "--cap", "lots"}, 2, {"cap=lots", "24GiB"});
  refused({"run", "train_step", "--time-limit", "0"}, 2, {"--time-limit", "\"0\""});
  refused({"run", "train_step", "--time-limit", "nan"}, 2, {"--time-limit"});
  refused({"run", "train_step", "--time-limit"}, 2, {"--time-limit", "headroom run --help"});
  refused({"figures", "--chapter", "0", "--out", "out"}, 2, {"no chapter 0", "P, 1"});
  refused({"figures", "--chapter", "900", "--out", "out"}, 2, {"no chapter 900"});
}

TEST_CASE("An error is also one document on stdout with --json") {
  const Ran ran = run_headroom({"run", "train_step", "--set", "batch=0", "--json"});
  CHECK(ran.exit_code == 2);
  const json document = json::parse(ran.out);
  CHECK(document["exit_code"] == 2);
  CHECK(holds(document["error"], "batch=0"));
  CHECK(holds(ran.err, "batch=0"));
}

TEST_CASE("list shows all figures and demos") {
  const Ran ran = run_headroom({"list"});
  CHECK(ran.exit_code == 0);
  for (const char* word : {"memory_timeline", "peak_by_category", "train_step", "checkpointing", "adamw"})
    CHECK(holds(ran.out, word));

  const Ran machine = run_headroom({"list", "--json"});
  CHECK(machine.exit_code == 0);
  const json document = json::parse(machine.out);
  CHECK(document["chapters"][0]["number"] == "P");
  CHECK(document["figures"][0]["id"] == "memory_timeline");
  CHECK(document["demos"][0]["id"] == "train_step");
  CHECK(document["demos"][0]["parameters"][0]["key"] == "model");
  CHECK(document["demos"][0]["parameters"][0]["choices"][0] == "tiny");
}

TEST_CASE("Unwritable output is reported") {
  RunOptions full;
  full.stdout_path = "/dev/full";
  const Ran ran = run_headroom({"list"}, full);
  CHECK(ran.exit_code == 6);
  CHECK(holds(ran.err, "Standard output"));
}

TEST_CASE("The bare command without a window says how to get one") {
  const TemporaryFolder folder;
  // The copy has no headroom-window next to it.
  RunOptions options;
  options.program = folder / "headroom";
  std::filesystem::copy_file(std::string(HEADROOM_BIN_DIR) + "/headroom", options.program);
  const Ran ran = run_headroom({}, options);
  CHECK(ran.exit_code == 2);
  CHECK(holds(ran.err, "./run"));

  std::filesystem::copy_file("/bin/echo", folder.path() / "headroom-window");
  CHECK(run_headroom({}, options).exit_code == 0);
}

TEST_CASE("a recording's name as the only word opens the window with it") {
  const TemporaryFolder folder;
  std::filesystem::copy_file(HEADROOM_BIN_DIR "/headroom", folder / "headroom");
  const std::string window = folder / "headroom-window", recording = folder / "a.hrec";
  write_file(window, "#!/bin/sh\necho window \"$@\"\n");
  std::filesystem::permissions(window, std::filesystem::perms::owner_all);
  REQUIRE(small_recording().write(recording));
  const auto ran_with = [&](const std::string& word) {
    return run_headroom({word}, {.program = folder / "headroom"});
  };
  CHECK(ran_with(recording).out == "window --from " + recording + "\n");
  write_file(folder / "a.txt", "No recording.");
  const Ran text = ran_with(folder / "a.txt");
  CHECK(text.exit_code == 2);
  CHECK(text.out.empty());
  CHECK(holds(text.err, "a.txt"));
  CHECK(holds(ran_with(folder / "none.hrec").err, "There is no command"));
}
