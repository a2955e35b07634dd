// Runs the engine as a process with two pipes.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/live/engine_child.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;
using protocol::Hello;
using protocol::Progress;
using protocol::Refusal;
using protocol::RunFinished;
using record::OutcomeKind;
using tests::Clock;
using tests::EngineChild;

protocol::StartRun start_run(std::uint64_t run, int steps = 3) {
  return {.run = run,
          .demo = "train_step",
          .params = {
              {"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}, {"steps", std::to_string(steps)}}};
}

std::vector<std::byte> frame(const std::string& body) {
  const auto size = static_cast<std::uint32_t>(body.size());
  std::vector<std::byte> bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(size >> (8 * i)));
  for (const char c : body) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

void wait_for_events(EngineChild& engine) {
  while (engine.recording().events().size() < 1000 || engine.recording().marks().size() < 30) {
    REQUIRE(engine.next());
  }
}

// The engine must exit before its run has finished.
void check_that_it_ends(EngineChild& engine) {
  CHECK(engine.ended() == 0);
  while (const auto message = engine.next()) {
    const auto* finished = std::get_if<RunFinished>(&*message);
    CHECK((finished == nullptr || finished->outcome.kind != OutcomeKind::kCompleted));
  }
}

void check_that_it_works(EngineChild& engine, std::uint64_t run) {
  engine.new_recording();
  engine.send(start_run(run));
  const auto finished = engine.next_of<RunFinished>();
  REQUIRE(finished);
  CHECK(finished->run == run);
  CHECK(finished->outcome.kind == OutcomeKind::kCompleted);
  CHECK(engine.refused_chunks() == 0);
  const record::Ledger ledger(engine.recording());
  CHECK(ledger.size() > 1000);
  CHECK(ledger.first_mismatch() == record::kNever);
  CHECK(record::steps_of(engine.recording()).size() == 3);
}

}  // namespace

TEST_CASE("an engine greets, runs, and runs again") {
  EngineChild engine;
  const auto first = engine.next();
  REQUIRE(first);
  const auto* hello = std::get_if<Hello>(&*first);
  REQUIRE(hello != nullptr);
  CHECK(hello->pid == engine.pid());
  REQUIRE_FALSE(hello->devices.empty());
  CHECK(hello->devices[0].key == "cpu");
  CHECK(hello->facts.at("torch").starts_with("2."));
  check_that_it_works(engine, 7);
  CHECK(engine.recording().op_name(1) != "");
  CHECK(engine.recording().dropped_events() == 0);
  check_that_it_works(engine, 8);  // the operators' names are sent again
  bool head = false, all = true;   // even the last name, AdamW's second moment
  for (const auto& event : engine.recording().events()) {
    head = head || engine.recording().op_name(event.op) == "lm_head";
    all = all && (event.op == record::kNoOperator || engine.recording().op_name(event.op) != "");
  }
  CHECK(head);
  CHECK(all);
  engine.close_input();
  CHECK(engine.ended() == 0);
}

TEST_CASE("progress grows to the end of a run") {
  EngineChild engine;
  engine.send(start_run(1, 40));
  double fraction = -1;
  bool grows = true, time_left_known = false;
  while (const auto message = engine.next()) {
    if (const auto* progress = std::get_if<Progress>(&*message)) {
      CHECK(progress->run == 1);
      grows = grows && progress->fraction >= fraction;
      fraction = progress->fraction;
      time_left_known = time_left_known || progress->time_left > 0;
    }
    if (std::holds_alternative<RunFinished>(*message)) break;
  }
  CHECK(grows);
  CHECK(fraction > 0.9);
  CHECK(time_left_known);
}

TEST_CASE("heartbeats arrive during a run") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  for (int beats = 0; beats < 4;) {
    const auto message = engine.next();
    REQUIRE(message);
    REQUIRE_FALSE(std::holds_alternative<RunFinished>(*message));
    if (std::holds_alternative<protocol::Heartbeat>(*message)) ++beats;
  }
}

TEST_CASE("a worker that computes for long without a mark does not count as hung") {
  EngineChild engine;
  auto large = start_run(1);
  large.params["model"] = "custom";
  large.params["num_layers"] = "1";
  large.params["hidden_size"] = "2048";
  large.params["vocab_size"] = "65536";  // two tables of 2^27 random numbers take at least a second
  engine.send(large);
  std::vector<std::uint64_t> beats;
  while (const auto message = engine.next()) {
    const auto* heartbeat = std::get_if<protocol::Heartbeat>(&*message);
    if (heartbeat != nullptr && (beats.empty() || heartbeat->beats != beats.back())) beats.push_back(heartbeat->beats);
    if (beats.size() >= 4) break;
    const auto* progress = std::get_if<Progress>(&*message);
    if (progress != nullptr && progress->steps > 0) break;  // by then the model is built
    REQUIRE_FALSE(std::holds_alternative<RunFinished>(*message));
  }
  CHECK(beats.size() >= 4);  // start, the setup's mark, processor time
  CHECK(std::is_sorted(beats.begin(), beats.end()));
}

TEST_CASE("a cancelled run ends early, and the engine continues") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  engine.send(protocol::Cancel{1});
  const auto finished = engine.next_of<RunFinished>();
  REQUIRE(finished);
  CHECK(finished->outcome.kind == OutcomeKind::kCancelled);
  engine.send(protocol::Cancel{1});  // too late: a no-op
  check_that_it_works(engine, 2);
}

TEST_CASE("a second run is refused by its number during a run") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  engine.send(start_run(2));
  const auto refusal = engine.next_of<Refusal>();
  REQUIRE(refusal);
  CHECK(refusal->run == 2);
  CHECK_FALSE(refusal->reason.empty());
}

TEST_CASE("an invalid message is refused with a reason, and the engine continues") {
  EngineChild engine;
  REQUIRE(engine.next_of<Hello>());
  const std::string deep(100'000, '\x91');  // nested arrays
  for (const std::string& body :
       {std::string("\xc1"), std::string("hello"), deep, std::string("\x81\xa4kind\xa3xyz")}) {
    engine.send_bytes(frame(body));
    const auto refusal = engine.next_of<Refusal>();
    REQUIRE(refusal);
    CHECK(refusal->run == 0);
    CHECK_FALSE(refusal->reason.empty());
  }
  engine.send(protocol::Heartbeat{});  // only engines send this
  CHECK(engine.next_of<Refusal>());
  engine.send(start_run(0));
  CHECK(engine.next_of<Refusal>());
  auto unknown = start_run(3);
  unknown.demo = "no_such_demo";
  engine.send(unknown);
  const auto finished = engine.next_of<RunFinished>();
  REQUIRE(finished);
  CHECK(finished->outcome.kind == OutcomeKind::kRefused);
  CHECK(finished->outcome.message.find("no_such_demo") != std::string::npos);
  check_that_it_works(engine, 4);
}

TEST_CASE("bytes that are not frames end the engine, with a reason") {
  EngineChild engine;
  REQUIRE(engine.next_of<Hello>());
  const std::string text = "GET / HTTP/1.1\r\n";  // read as a length of 542,393,671
  engine.send_bytes(std::as_bytes(std::span(text)));
  CHECK(engine.next_of<Refusal>());
  CHECK(engine.ended() == 50);
}

TEST_CASE("an engine ends when its stdin closes, even during a run") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  engine.close_input();
  check_that_it_ends(engine);
}

TEST_CASE("an app that does not read blocks neither the run nor the engine's exit") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  std::this_thread::sleep_for(2s);  // until the pipe is full
  engine.close_input();
  check_that_it_ends(engine);
}

TEST_CASE("the data that arrived before SIGKILL is a readable recording") {
  EngineChild engine;
  engine.send(start_run(1, 10'000));
  wait_for_events(engine);
  engine.signal(SIGKILL);
  while (engine.next()) {
  }
  CHECK(engine.ended() == -SIGKILL);
  CHECK(engine.refused_chunks() == 0);
  CHECK_FALSE(engine.recording().outcome());
  const record::Ledger ledger(engine.recording());
  CHECK(ledger.size() >= 1000);
  CHECK(ledger.first_mismatch() == record::kNever);
}

TEST_CASE("the engine ignores Ctrl-C, and Linux kills it first if memory runs out") {
  EngineChild engine;
  REQUIRE(engine.next_of<Hello>());
  engine.signal(SIGINT);
  int score = 0;
  std::ifstream("/proc/" + std::to_string(engine.pid()) + "/oom_score_adj") >> score;
  CHECK(score == 1000);
  check_that_it_works(engine, 1);
}

TEST_CASE("running out of memory is reported with its facts") {
  EngineChild engine;
  auto start = start_run(1);
  start.params["cap"] = "48MiB";
  engine.send(start);
  const auto finished = engine.next_of<RunFinished>();
  REQUIRE(finished);
  CHECK(finished->outcome.kind == OutcomeKind::kOutOfMemory);
  REQUIRE(finished->outcome.out_of_memory);
  CHECK(finished->outcome.out_of_memory->limit == 48 * record::kMiB);
  CHECK(engine.recording().info().cap == 48 * record::kMiB);
  check_that_it_works(engine, 2);
}

TEST_CASE("a planner answers with a prediction, and the newest question wins") {
  EngineChild engine({"--plan"});
  auto question = start_run(1);
  question.params["model"] = "llama-3-8b";
  question.params["device"] = "cuda";
  question.params["precision"] = "bf16";
  question.params["seq"] = "1024";
  question.params["steps"] = "10000";  // only three are predicted
  for (std::uint64_t run = 1; run <= 5; ++run) {
    question.run = run;
    engine.send(question);
  }
  std::vector<std::uint64_t> finished;
  OutcomeKind last = OutcomeKind::kFailed;
  while (finished.size() < 5) {
    const auto message = engine.next();
    REQUIRE(message);
    const auto* chunk = std::get_if<protocol::Chunk>(&*message);
    if (chunk != nullptr && chunk->run != 5) engine.new_recording();
    if (const auto* end = std::get_if<RunFinished>(&*message)) {
      finished.push_back(end->run);
      last = end->outcome.kind;
    }
  }
  CHECK(finished.back() == 5);
  CHECK(last == OutcomeKind::kCompleted);
  CHECK(engine.recording().info().source == record::Source::kPredicted);
  CHECK(engine.recording().info().device == record::DeviceKind::kGpu);
  const record::Ledger ledger(engine.recording());
  // 8,030,261,248 weights and twice as many moments, each of two bytes.
  CHECK(ledger.peak().totals.by_category[0] == 2 * 8'030'261'248);
  CHECK(ledger.peak().totals.allocated > 6 * 8'030'261'248);
  CHECK(ledger.peak_reserved() == 0);
  CHECK(record::steps_of(engine.recording()).size() == 3);
}

TEST_CASE("the engine answers --help, --version and --facts on a terminal") {
  const auto [version_code, version] = tests::engine_output({"--version"});
  CHECK(version_code == 0);
  CHECK(version.starts_with("headroom-engine "));
  const auto [facts_code, facts] = tests::engine_output({"--facts"});
  CHECK(facts_code == 0);
  CHECK(facts.find("\"devices\"") != std::string::npos);
  CHECK(facts.find("\"torch\"") != std::string::npos);
  CHECK(tests::engine_output({"--no-such-option"}).first == 2);
  CHECK(tests::engine_output({"--plan", "--facts"}).first == 2);
}
