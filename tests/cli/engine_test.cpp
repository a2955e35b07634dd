// Engine selection, and an engine on another machine. Like ssh, a script joins the words after the host with blanks
// and runs them in a shell without the caller's environment.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "demos/record/recording.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string script(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder / name;
  write_file(path, "#!/bin/sh\n" + text);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

// The script's name contains a blank, and the remote command runs in a new session.
std::string fake_ssh(const TemporaryFolder& folder) {
  return "'" +
         script(folder, "my ssh", "echo \"$1\" >>\"$0.hosts\"\nshift\nexec setsid --wait env -i /bin/sh -c \"$*\"\n") +
         "'";
}

}  // namespace

TEST_CASE("The option --engine may precede or follow the command, and overrides HEADROOM_ENGINE") {
  for (const auto& words : {std::vector<std::string>{"--engine", HEADROOM_SCRIPTED_ENGINE, "run", "train_step"},
                            std::vector<std::string>{"run", "train_step", "--engine", HEADROOM_SCRIPTED_ENGINE},
                            std::vector<std::string>{"--engine", HEADROOM_SCRIPTED_ENGINE, "doctor"}}) {
    const Ran ran = run_headroom(words);  // HEADROOM_ENGINE is /nowhere/headroom-engine
    INFO(ran.out << ran.err);
    // A doctor also reports a GPU of this machine, which the scripted engine does not use.
    CHECK((ran.exit_code == 0 || words.back() == "doctor"));
    CHECK_FALSE(holds(ran.out + ran.err, "/nowhere"));
  }
}

TEST_CASE("A remote engine runs and records like a local one") {
  const TemporaryFolder folder;
  const std::string command = fake_ssh(folder) + " \"user@a host\" " + HEADROOM_SCRIPTED_ENGINE;
  for (const bool by_flag : {true, false}) {
    std::vector<std::string> words{"run", "train_step", "--record", folder / "a.hrec", "--json"};
    RunOptions options;
    if (by_flag)
      words.insert(words.end(), {"--engine", command});
    else
      options.environment["HEADROOM_ENGINE"] = command;
    const Ran ran = run_headroom(words, options);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    CHECK(json::parse(ran.out)["peak_bytes"] == kSmallPeak);
    const auto recording = record::Recording::read(folder / "a.hrec");
    REQUIRE(recording);
    CHECK(recording.value().events().size() == small_recording().events().size());
    fs::remove(folder / "a.hrec");
  }
  const std::string host = "user@a host\n";  // each command starts a runner and, after the run, a planner
  CHECK(read_file(folder / "my ssh.hosts") == host + host + host + host);
}

TEST_CASE("A remote engine reads the text of its own machine") {
  const TemporaryFolder folder;
  const std::vector<std::string> words{"run", "train_step", "--data", "/only/there.txt", "--engine"};
  const auto with = [&](const std::string& engine) {
    std::vector<std::string> all = words;
    all.push_back(engine);
    return run_headroom(all);
  };
  CHECK(with(fake_ssh(folder) + " host " + HEADROOM_SCRIPTED_ENGINE).exit_code == 0);
  CHECK(with(HEADROOM_SCRIPTED_ENGINE).exit_code == 2);
}

TEST_CASE("An unreachable machine is reported with ssh's message") {
  const TemporaryFolder folder;
  const std::string refusing =
      script(folder, "ssh", "echo 'ssh: connect to host gpu port 22: Connection refused' >&2\nexit 255\n");
  const Ran ran = run_headroom({"run", "train_step", "--engine", refusing + " gpu headroom-engine"});
  INFO(ran.err);
  CHECK(ran.exit_code == 7);
  CHECK(holds(ran.err, "Connection refused"));
  CHECK(ran.seconds < 20);
}
