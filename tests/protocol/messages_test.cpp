// Every message survives a round trip, extreme values included.
#include "demos/protocol/messages.h"

#include <limits>

#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::protocol;

namespace {

constexpr auto kMaxRun = std::numeric_limits<std::uint64_t>::max();
constexpr record::Bytes kMostInAFile = record::Bytes{1} << 50;
constexpr auto kMaxBytes = std::numeric_limits<record::Bytes>::max();

template <class T>
T round_trip(const T& message) {
  const std::vector<std::byte> frame = encode(message);
  REQUIRE(frame.size() > 4);
  const auto decoded = decode(std::span(frame).subspan(4));
  INFO((decoded ? "" : decoded.error().message));
  REQUIRE(decoded.ok());
  REQUIRE(std::holds_alternative<T>(decoded.value()));
  return std::get<T>(decoded.value());
}

}  // namespace

TEST_CASE("a start keeps its run, demo and parameters") {
  const StartRun sent{
      .run = kMaxRun, .demo = "train_step", .params = {{"batch", "4"}, {"model", "tiny"}, {"", ""}}, .record = false};
  const StartRun heard = round_trip(sent);
  CHECK(heard.run == sent.run);
  CHECK(heard.demo == sent.demo);
  CHECK(heard.params == sent.params);
  CHECK_FALSE(heard.record);
  CHECK(round_trip(StartRun{.run = 1, .demo = "a", .params = {}, .record = true}).record);
}

TEST_CASE("a parameter that is not UTF-8, such as a file's name, arrives byte for byte") {
  const StartRun heard =
      round_trip(StartRun{.run = 1, .demo = "train_step", .params = {{"data", "/tmp/\xff\xfe.txt"}}});
  CHECK(heard.params.at("data") == "/tmp/\xff\xfe.txt");
}

TEST_CASE("cancel, heartbeat and refusal arrive") {
  CHECK(round_trip(Cancel{kMaxRun}).run == kMaxRun);
  CHECK(round_trip(Heartbeat{.beats = kMaxRun}).beats == kMaxRun);
  CHECK(round_trip(Heartbeat{.collectives = 412}).collectives == 412);
  const Refusal heard = round_trip(Refusal{.run = 3, .reason = "»batch« is too large"});
  CHECK(heard.run == 3);
  CHECK(heard.reason == "»batch« is too large");
}

TEST_CASE("a greeting keeps devices and facts") {
  const Hello heard = round_trip(Hello{.pid = 4'194'304,
                                       .devices = {{.kind = record::DeviceKind::kGpu,
                                                    .key = "cuda",
                                                    .name = "NVIDIA H200",
                                                    .memory = kMaxBytes,
                                                    .free_memory = 0},
                                                   {.key = "cpu", .name = "CPU, 2 cores", .memory = 1}},
                                       .facts = {{"torch", "2.11.0"}}});
  CHECK(heard.pid == 4'194'304);
  REQUIRE(heard.devices.size() == 2);
  CHECK(heard.devices[0].kind == record::DeviceKind::kGpu);
  CHECK(heard.devices[0].key == "cuda");
  CHECK(heard.devices[0].name == "NVIDIA H200");
  CHECK(heard.devices[0].memory == kMaxBytes);
  CHECK(heard.devices[0].free_memory == 0);
  CHECK(heard.devices[1].kind == record::DeviceKind::kCpu);
  CHECK(heard.facts.at("torch") == "2.11.0");
}

TEST_CASE("a chunk arrives byte for byte") {
  Chunk sent{.run = 7, .bytes = std::vector<std::byte>(300'000)};
  for (std::size_t i = 0; i < sent.bytes.size(); ++i) sent.bytes[i] = static_cast<std::byte>(i * 31);
  const Chunk heard = round_trip(sent);
  CHECK(heard.run == 7);
  CHECK((heard.bytes == sent.bytes));
  CHECK(round_trip(Chunk{.run = 7, .bytes = {}}).bytes.empty());
}

TEST_CASE("progress arrives with and without a known time left") {
  const Progress heard = round_trip(
      Progress{.run = 7, .step = 2, .steps = 3, .fraction = 0.625, .time_left = 1'500'000'000, .doing = "step 2 of 3"});
  CHECK(heard.run == 7);
  CHECK(heard.step == 2);
  CHECK(heard.steps == 3);
  CHECK(heard.fraction == 0.625);
  CHECK(heard.time_left == 1'500'000'000);
  CHECK(heard.doing == "step 2 of 3");
  CHECK(round_trip(Progress{.run = 7, .fraction = 1}).time_left == -1);
}

TEST_CASE("every outcome arrives") {
  for (int i = 0; i <= static_cast<int>(record::OutcomeKind::kFailed); ++i) {
    const auto kind = static_cast<record::OutcomeKind>(i);
    const RunFinished heard = round_trip(RunFinished{.run = 7, .outcome = {.kind = kind, .message = "why"}});
    CHECK(heard.run == 7);
    CHECK(heard.outcome.kind == kind);
    CHECK(heard.outcome.message == "why");
    CHECK_FALSE(heard.outcome.out_of_memory.has_value());
  }
}

TEST_CASE("running out of memory arrives with all its facts") {
  const record::OutOfMemoryFacts sent{.requested = 1'050'673'152,
                                      .allocated = kMostInAFile,
                                      .reserved = 2,
                                      .limit = 24 * record::kGiB,
                                      .op = "loss.logits",
                                      .phase = record::Phase::kRecompute,
                                      .layer = record::kNoLayer,
                                      .by_category = {1, 2, 3, 4, 5, 6, kMostInAFile}};
  const RunFinished heard = round_trip(RunFinished{
      .run = 7, .outcome = {.kind = record::OutcomeKind::kOutOfMemory, .message = "no room", .out_of_memory = sent}});
  REQUIRE(heard.outcome.out_of_memory.has_value());
  const record::OutOfMemoryFacts& facts = *heard.outcome.out_of_memory;
  CHECK(facts.requested == sent.requested);
  CHECK(facts.allocated == sent.allocated);
  CHECK(facts.reserved == sent.reserved);
  CHECK(facts.limit == sent.limit);
  CHECK(facts.op == sent.op);
  CHECK(facts.phase == sent.phase);
  CHECK(facts.layer == sent.layer);
  CHECK(facts.by_category == sent.by_category);
}

TEST_CASE("a message with text that is not UTF-8 arrives") {
  const RunFinished heard = round_trip(
      RunFinished{.run = 7, .outcome = {.kind = record::OutcomeKind::kFailed, .message = "bad \xff name: ü"}});
  CHECK(heard.outcome.message == "bad ? name: ??");
}

TEST_CASE("a message too large for a frame is a bug of the sender and throws") {
  CHECK_THROWS_AS(encode(Chunk{.run = 1, .bytes = std::vector<std::byte>(kMaxFrameBytes)}), std::length_error);
}
