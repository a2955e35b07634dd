// The grammar: lines are parsed and checked without running them.
#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/grammar.h"
#include "app/common/session.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app;

namespace {

CommandLine parsed(const std::string& line) { return parse(split_words(line)); }

std::string refused_by_check(const std::string& line) {
  const CommandLine command = parsed(line);
  REQUIRE(command.invocation);
  const record::Status status = command.invocation.value()->check();
  return status ? std::string() : status.error().message;
}

}  // namespace

TEST_CASE("The example of each command parses and names existing things") {
  for (const Command* command : commands()) {
    if (command->example.empty()) continue;
    INFO(command->example);
    const std::string line(command->example.substr(std::string_view("headroom").size()));
    if (!tests::kWritesPdf && line.find("pdf") != std::string::npos) continue;
    if (!command->name.empty()) CHECK(refused_by_check(line).empty());
  }
}

TEST_CASE("Each command has its own name, and help that lists its options") {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    INFO(command->name);
    CHECK(std::find(names.begin(), names.end(), command->name) == names.end());
    names.push_back(command->name);
    CHECK(parsed(std::string(command->name) + " --help").invocation);
    CHECK_FALSE(parsed(std::string(command->name) + " --no-such-option").invocation);
  }
}

TEST_CASE("Common options reach their command, wherever --engine stands") {
  CommandLine line =
      parsed("--engine 'ssh host' run train_step --set batch=2 seq=8 --device cpu --time-limit 1.5 --json");
  REQUIRE(line.invocation);
  const CommonOptions& options = line.invocation.value()->common();
  CHECK(options.engine == "ssh host");
  CHECK(options.set == std::vector<std::string>{"batch=2", "seq=8"});
  CHECK(options.device == "cpu");
  CHECK(options.time_limit == 1.5);
  CHECK(options.json);
  CHECK(line.json);
  CHECK(parsed("run train_step --time-limit --json").json);
}

TEST_CASE("The option --set returns the words that are not assignments") {
  for (const char* line : {"run --set batch=2 train_step", "sweep --over batch=1,2 --set seq=8 train_step",
                           "bench --set rows=8 rms_norm --quick", "figures --out o --set top=3 memory_timeline"})
    CHECK(refused_by_check(line).find("value") == std::string::npos);
  CHECK(refused_by_check("bench --set rows=8 rms_nrm").find("rms_norm") != std::string::npos);
  CHECK(refused_by_check("figures --out o --set top=3 memory_timelin").find("memory_timeline") != std::string::npos);
}

TEST_CASE("A check names the unknown demo, setting, value, figure or kernel") {
  const auto holds = [](const std::string& line, const std::string& part) {
    const std::string message = refused_by_check(line);
    INFO(line + ": " + message);
    CHECK(message.find(part) != std::string::npos);
  };
  holds("run train_stop", "train_step");
  holds("run train_step --set bach=4", "\"bach\"");
  holds("run train_step --cap lots", "cap=lots");
  holds("run moments --cap 3GiB", "remove --cap");
  holds("sweep train_step --over batch=1,none", "none");
  holds("sweep ladder --over batch=1,2", "remove --over");
  holds("bench rms_nrm", "rms_norm");
  holds("bench step --set bach=4", "\"bach\"");
  holds("report --out o --set bach=4", "\"bach\"");
  holds("figures memory_timelin --out o", "memory_timeline");
  holds("figures --out o --set no_such_key=4", "no_such_key");
  holds("figures --out o --chapter 900", "no chapter 900");
}
