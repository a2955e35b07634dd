// Malformed messages are refused with a reason and crash nothing.
#include <nlohmann/json.hpp>
#include <random>

#include "demos/protocol/messages.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::protocol;
using nlohmann::json;

namespace {

std::vector<std::byte> packed(const json& value) {
  const std::vector<std::uint8_t> bytes = json::to_msgpack(value);
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return {first, first + bytes.size()};
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

json message(std::string_view kind, json fields) {
  fields["version"] = kVersion;
  fields["kind"] = kind;
  return fields;
}

// Empty if the message was accepted.
std::string refusal_of(const std::vector<std::byte>& body) {
  const auto decoded = decode(body);
  return decoded ? "" : decoded.error().message;
}

std::string refusal_of(const json& value) { return refusal_of(packed(value)); }

const json kProgress = message(
    "progress", {{"run", 1}, {"step", 1}, {"steps", 3}, {"fraction", 0.5}, {"time_left", -1}, {"doing", "step 1"}});

std::string refusal_of_progress(std::string_view key, const json& value) {
  json changed = kProgress;
  changed[std::string(key)] = value;
  return refusal_of(changed);
}

std::vector<std::vector<std::byte>> bodies_of_all_kinds() {
  const std::vector<Message> messages = {
      StartRun{.run = 1, .demo = "train_step", .params = {{"batch", "4"}, {"data", "\xff"}}},
      Cancel{1},
      Hello{.pid = 9, .devices = {{.key = "cpu", .name = "CPU", .memory = 1, .free_memory = 1}}, .facts = {{"a", "b"}}},
      Chunk{.run = 1, .bytes = std::vector<std::byte>(50)},
      Progress{.run = 1, .step = 1, .steps = 3, .fraction = 0.5, .doing = "step 1"},
      RunFinished{.run = 1,
                  .outcome = {.kind = record::OutcomeKind::kOutOfMemory,
                              .message = "no room",
                              .out_of_memory = record::OutOfMemoryFacts{.requested = 5, .op = "x"}}},
      Heartbeat{77},
      Refusal{.run = 1, .reason = "no"}};
  std::vector<std::vector<std::byte>> bodies;
  for (const Message& each : messages) {
    const auto frame = encode(each);
    bodies.emplace_back(frame.begin() + 4, frame.end());
  }
  return bodies;
}

}  // namespace

TEST_CASE("the unmodified message of these tests is valid") { CHECK(refusal_of(kProgress).empty()); }

TEST_CASE("a truncated message is refused at every length") {
  for (const auto& body : bodies_of_all_kinds())
    for (std::size_t length = 0; length < body.size(); ++length) {
      CAPTURE(length, body.size());
      CHECK_FALSE(
          refusal_of(std::vector<std::byte>(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(length))).empty());
    }
}

TEST_CASE("bytes after a message are refused") {
  auto body = bodies_of_all_kinds().front();
  body.push_back(std::byte{0});
  CHECK_FALSE(refusal_of(body).empty());
}

TEST_CASE("a flipped bit results in a message or a reason") {
  std::size_t refused = 0;
  for (const auto& body : bodies_of_all_kinds())
    for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
      auto flipped = body;
      flipped[bit / 8] ^= std::byte{1} << (bit % 8);
      const auto decoded = decode(flipped);
      if (decoded) continue;
      ++refused;
      CHECK_FALSE(decoded.error().message.empty());
    }
  CHECK(refused > 500);
}

TEST_CASE("random bytes, alone or in messages, result in a message or a reason") {
  std::mt19937 random(20240607);
  const auto bodies = bodies_of_all_kinds();
  for (int i = 0; i < 50'000; ++i) {
    std::vector<std::byte> body;
    if (i % 2 == 0) {
      body.resize(random() % 200);
      for (auto& byte : body) byte = static_cast<std::byte>(random());
    } else {
      body = bodies[random() % bodies.size()];
      for (int changes = 1 + static_cast<int>(random() % 5); changes > 0; --changes)
        body[random() % body.size()] = static_cast<std::byte>(random());
    }
    const auto decoded = decode(body);
    if (!decoded) REQUIRE_FALSE(decoded.error().message.empty());
  }
}

TEST_CASE("a million nested arrays or maps are refused") {
  const int opener = GENERATE(0x91, 0x81);  // opens an array or map of one element
  std::vector<std::byte> body(1'000'000, static_cast<std::byte>(opener));
  if (opener == 0x81) {  // each map needs a key: "k"
    body.clear();
    for (int i = 0; i < 1'000'000; ++i)
      for (const int byte : {0x81, 0xa1, 0x6b}) body.push_back(static_cast<std::byte>(byte));
  }
  CHECK(refusal_of(body).find("nested deeper than 64") != std::string::npos);
}

TEST_CASE("64 levels are accepted, and 65 are refused") {
  const auto nested = [](int levels) {
    json value = 1;
    for (int i = 0; i < levels; ++i) value = json::array({value});
    return value;
  };
  json good = kProgress;
  good["more"] = nested(63);  // the message's map is the first level
  CHECK(refusal_of(good).empty());
  json bad = kProgress;
  bad["more"] = nested(64);
  CHECK(refusal_of(bad).find("nested deeper than 64") != std::string::npos);
}

TEST_CASE("lengths far beyond the message are refused") {
  CHECK_FALSE(refusal_of(bytes_of({0xdb, 0xff, 0xff, 0xff, 0xff, 'x'})).empty());  // text of 4 GiB
  CHECK_FALSE(refusal_of(bytes_of({0xc6, 0xff, 0xff, 0xff, 0xff, 1})).empty());    // binary of 4 GiB
  CHECK_FALSE(refusal_of(bytes_of({0xdd, 0xff, 0xff, 0xff, 0xff, 1})).empty());    // an array of 4 G values
  CHECK_FALSE(refusal_of(bytes_of({0xdf, 0xff, 0xff, 0xff, 0xff, 1})).empty());    // a map of 4 G entries
}

TEST_CASE("a frame full of tiny values is refused before it becomes a tree") {
  std::vector<std::byte> body(2'000'000, std::byte{0x01});
  const auto head = bytes_of({0xdd, 0x00, 0x1e, 0x84, 0x7b});  // 1,999,995 numbers
  std::copy(head.begin(), head.end(), body.begin());
  CHECK(refusal_of(body).find("more than 100000 values") != std::string::npos);
}

TEST_CASE("a body larger than a frame is refused") {
  CHECK(refusal_of(std::vector<std::byte>(kMaxFrameBytes + 1)).find("larger than a frame") != std::string::npos);
}

TEST_CASE("a value that is not a map, or a map without kind or version, is refused") {
  CHECK(refusal_of(json(5)).find("not a map") != std::string::npos);
  CHECK(refusal_of(json::array({1, 2})).find("not a map") != std::string::npos);
  CHECK(refusal_of(json{{"kind", "shutdown"}}).find("version is missing") != std::string::npos);
  CHECK(refusal_of(json{{"version", kVersion}}).find("kind is missing") != std::string::npos);
  CHECK(refusal_of(json{{"version", kVersion}, {"kind", 5}}).find("kind is not text") != std::string::npos);
}

TEST_CASE("another version and an unknown kind are refused by name") {
  CHECK(refusal_of(json{{"version", 1}, {"kind", "shutdown"}}).find("version 1; this program speaks 3") !=
        std::string::npos);
  CHECK(refusal_of(json{{"version", "1"}, {"kind", "shutdown"}}).find("version is not an integer") !=
        std::string::npos);
  CHECK(refusal_of(message("explode", json::object())).find("explode") != std::string::npos);
}

TEST_CASE("each missing field is named") {
  for (const char* key : {"run", "step", "steps", "fraction", "time_left", "doing"}) {
    json without = kProgress;
    without.erase(key);
    CHECK(refusal_of(without) == "progress: " + std::string(key) + " is missing");
  }
}

TEST_CASE("negative numbers as sizes and counts are refused") {
  CHECK(refusal_of_progress("run", -1).find("run is not a non-negative integer") != std::string::npos);
  CHECK_FALSE(refusal_of_progress("step", -1).empty());
  CHECK_FALSE(refusal_of_progress("time_left", -2).empty());
  const json device = {{"kind", "gpu"}, {"key", "cuda"}, {"name", "x"}, {"memory", -1}, {"free_memory", 0}};
  CHECK(refusal_of(message("hello", {{"pid", 1}, {"devices", {device}}, {"facts", json::object()}}))
            .find("memory is not in 0") != std::string::npos);
}

TEST_CASE("numbers out of range are refused, not wrapped around") {
  CHECK_FALSE(refusal_of_progress("step", std::int64_t{1} << 31).empty());
  CHECK_FALSE(refusal_of_progress("step", (std::int64_t{1} << 32) + 1).empty());
  CHECK_FALSE(refusal_of_progress("time_left", std::uint64_t{1} << 63).empty());
  CHECK_FALSE(refusal_of_progress("time_left", ~std::uint64_t{0}).empty());  // would wrap to −1
  CHECK_FALSE(refusal_of_progress("fraction", 1.5).empty());
  CHECK_FALSE(refusal_of_progress("fraction", -0.5).empty());
  CHECK_FALSE(refusal_of_progress("fraction", std::numeric_limits<double>::infinity()).empty());
  CHECK_FALSE(refusal_of_progress("fraction", std::numeric_limits<double>::quiet_NaN()).empty());
}

TEST_CASE("a value of another type is refused") {
  CHECK_FALSE(refusal_of_progress("run", "1").empty());
  CHECK_FALSE(refusal_of_progress("run", 1.0).empty());
  CHECK_FALSE(refusal_of_progress("step", true).empty());
  CHECK_FALSE(refusal_of_progress("doing", 5).empty());
  CHECK_FALSE(refusal_of_progress("doing", nullptr).empty());
  CHECK_FALSE(refusal_of(message("chunk", {{"run", 1}, {"bytes", "text"}})).empty());
  CHECK_FALSE(refusal_of(message("start_run", {{"run", 1}, {"demo", "x"}, {"params", 5}, {"record", true}})).empty());
  CHECK_FALSE(
      refusal_of(message("start_run", {{"run", 1}, {"demo", "x"}, {"params", {{"batch", 4}}}, {"record", true}}))
          .empty());
  CHECK_FALSE(
      refusal_of(message("start_run", {{"run", 1}, {"demo", "x"}, {"params", json::object()}, {"record", 1}})).empty());
  CHECK_FALSE(refusal_of(message("hello", {{"pid", 1}, {"devices", {5}}, {"facts", json::object()}})).empty());
}

TEST_CASE("text that is not UTF-8 is refused, as value and as key") {
  const auto text = [](const char* bytes) { return packed(json(bytes)); };
  CHECK(refusal_of(text("\xff")).find("not UTF-8") != std::string::npos);
  CHECK(refusal_of(text("\xc0\xaf")).find("not UTF-8") != std::string::npos);      // overlong
  CHECK(refusal_of(text("\xed\xa0\x80")).find("not UTF-8") != std::string::npos);  // surrogate
  CHECK(refusal_of(text("\xf0\x9f\x98")).find("not UTF-8") != std::string::npos);  // cut off
  json map = kProgress;
  map["\xff"] = 1;
  CHECK(refusal_of(map).find("not UTF-8") != std::string::npos);
}

TEST_CASE("impossible out-of-memory facts are refused") {
  const json amounts = {{"weights", 1}, {"optimizer_state", 2}, {"gradients", 3}, {"activations", 4},
                        {"logits", 5},  {"workspace", 6},       {"other", 7}};
  const json facts = {{"requested", 1}, {"allocated", 1},     {"reserved", 1}, {"limit", 1},
                      {"op", "x"},      {"phase", "forward"}, {"layer", 3},    {"by_category", amounts}};
  const auto refusal_with = [&](const char* key, const json& value) {
    json changed = facts;
    changed[key] = value;
    const json outcome = {{"kind", "out_of_memory"}, {"message", ""}, {"out_of_memory", changed}};
    return refusal_of(message("run_finished", {{"run", 1}, {"outcome", outcome}}));
  };
  CHECK(refusal_with("layer", 3).empty());
  // The limits are those of a file, so that a recording remains readable.
  CHECK(refusal_with("layer", record::kNoLayer).empty());
  CHECK_FALSE(refusal_with("layer", record::kNoLayer + 1).empty());
  CHECK(refusal_with("limit", std::int64_t{1} << 50).empty());
  for (const char* key : {"requested", "allocated", "reserved", "limit"})
    CHECK_FALSE(refusal_with(key, (std::int64_t{1} << 50) + 1).empty());
  CHECK_FALSE(refusal_with("requested", -1).empty());
  CHECK_FALSE(refusal_with("phase", "lunch").empty());
  const auto with_other = [&](const json& value) {
    json changed = amounts;
    changed["other"] = value;
    return refusal_with("by_category", changed);
  };
  CHECK(with_other(std::int64_t{1} << 50).empty());
  CHECK_FALSE(with_other((std::int64_t{1} << 50) + 1).empty());
  CHECK_FALSE(with_other(-7).empty());
  CHECK_FALSE(with_other(~std::uint64_t{0}).empty());
  CHECK_FALSE(refusal_with("by_category", {1, 2, 3}).empty());
  CHECK_FALSE(refusal_with("by_category", {{"weights", 1}}).empty());
  CHECK_FALSE(
      refusal_of(message("run_finished", {{"run", 1}, {"outcome", {{"kind", "won"}, {"message", ""}}}})).empty());
}

TEST_CASE("fields of a later program are ignored") {
  json more = kProgress;
  more["mood"] = "fine";
  CHECK(refusal_of(more).empty());
}
