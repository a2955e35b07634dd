// Messages to MessagePack and back. Every message is one map: version, kind, and the fields of its struct by name.
#include "demos/protocol/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "demos/protocol/message_pack.h"
#include "demos/record/columns.h"  // kMostBytes: what a message may say is what a file may hold
#include "demos/record/text.h"

namespace headroom::protocol {

using nlohmann::json;
using record::DeviceKind;
using record::OutcomeKind;
using record::Phase;

namespace {

// --- writing

json binary(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
}

// Values that are not UTF-8 (a file's name may be any bytes) travel as binary, untouched.
json text_map(const std::map<std::string, std::string>& map) {
  json result = json::object();
  for (const auto& [key, value] : map)
    result[as_utf8(key)] = record::valid_utf8(value) ? json(value) : binary(std::as_bytes(std::span(value)));
  return result;
}

json write(const StartRun& message) {
  return {{"run", message.run},
          {"demo", as_utf8(message.demo)},
          {"params", text_map(message.params)},
          {"record", message.record}};
}

json write(const Cancel& message) { return {{"run", message.run}}; }

json write(const Hello& message) {
  json devices = json::array();
  for (const DeviceFacts& device : message.devices)
    devices.push_back({{"kind", record::key_of(device.kind)},
                       {"key", as_utf8(device.key)},
                       {"name", as_utf8(device.name)},
                       {"memory", device.memory},
                       {"free_memory", device.free_memory}});
  return {{"pid", message.pid}, {"devices", devices}, {"facts", text_map(message.facts)}};
}

json write(const Chunk& message) { return {{"run", message.run}, {"bytes", binary(message.bytes)}}; }

json write(const Progress& message) {
  return {{"run", message.run},           {"step", message.step},           {"steps", message.steps},
          {"fraction", message.fraction}, {"time_left", message.time_left}, {"doing", as_utf8(message.doing)}};
}

json write(const record::OutOfMemoryFacts& facts) {
  return {{"requested", facts.requested}, {"allocated", facts.allocated},    {"reserved", facts.reserved},
          {"limit", facts.limit},         {"op", as_utf8(facts.op)},         {"phase", record::key_of(facts.phase)},
          {"layer", facts.layer},         {"by_category", facts.by_category}};
}

json write(const RunFinished& message) {
  const record::Outcome& outcome = message.outcome;
  json result = {
      {"run", message.run}, {"outcome", record::key_of(outcome.kind)}, {"message", as_utf8(outcome.message)}};
  if (outcome.out_of_memory) result["out_of_memory"] = write(*outcome.out_of_memory);
  return result;
}

json write(const Heartbeat& message) { return {{"beats", message.beats}}; }

json write(const Refusal& message) { return {{"run", message.run}, {"reason", as_utf8(message.reason)}}; }

// --- reading

// The enumerator below `count` that has this key in files and messages.
template <class Enum>
Enum read_key(Fields& fields, std::string_view key, int count) {
  const std::string text = fields.text(key);
  for (int i = 0; i < count; ++i)
    if (record::key_of(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  fields.refuse(key, "is unknown: " + record::quoted(text));
  return {};
}

StartRun read_start_run(Fields& fields) {
  return {.run = fields.counter("run"),
          .demo = fields.text("demo"),
          .params = fields.text_map("params"),
          .record = fields.boolean("record")};
}

Hello read_hello(Fields& fields) {
  Hello message{.pid = fields.integer("pid", 0), .devices = {}, .facts = fields.text_map("facts")};
  for (const json& entry : fields.array("devices")) {
    Fields device(entry, "device");
    message.devices.push_back({.kind = read_key<DeviceKind>(device, "kind", static_cast<int>(DeviceKind::kHost) + 1),
                               .key = device.text("key"),
                               .name = device.text("name"),
                               .memory = device.integer("memory", 0),
                               .free_memory = device.integer("free_memory", 0)});
    if (!device.ok()) fields.refuse("devices", "has a bad entry: " + device.reason());
  }
  return message;
}

Progress read_progress(Fields& fields) {
  constexpr auto kMaxSteps = std::numeric_limits<std::int32_t>::max();
  return {.run = fields.counter("run"),
          .step = static_cast<std::int32_t>(fields.integer("step", 0, kMaxSteps)),
          .steps = static_cast<std::int32_t>(fields.integer("steps", 0, kMaxSteps)),
          .fraction = fields.real("fraction", 0, 1),
          .time_left = fields.integer("time_left", -1),
          .doing = fields.text("doing")};
}

record::OutOfMemoryFacts read_out_of_memory(Fields& fields) {
  record::OutOfMemoryFacts facts{.requested = fields.integer("requested", 0, record::kMostBytes),
                                 .allocated = fields.integer("allocated", 0, record::kMostBytes),
                                 .reserved = fields.integer("reserved", 0, record::kMostBytes),
                                 .limit = fields.integer("limit", 0, record::kMostBytes),
                                 .op = fields.text("op"),
                                 .phase = read_key<Phase>(fields, "phase", record::kNumPhases),
                                 .layer = static_cast<std::uint16_t>(fields.integer("layer", 0, record::kNoLayer)),
                                 .by_category = {}};
  const json& categories = fields.array("by_category");
  if (categories.size() != facts.by_category.size())
    fields.refuse("by_category", fmt::format("has {} entries", categories.size()));
  for (std::size_t i = 0; fields.ok() && i < categories.size(); ++i) {
    if (categories[i].is_number_unsigned() && categories[i].get<std::uint64_t>() <= std::uint64_t{record::kMostBytes})
      facts.by_category[i] = categories[i].get<record::Bytes>();
    else
      fields.refuse("by_category", "has an entry that is no number of bytes");
  }
  return facts;
}

RunFinished read_run_finished(Fields& fields) {
  RunFinished message{.run = fields.counter("run"), .outcome = {}};
  message.outcome.kind = read_key<OutcomeKind>(fields, "outcome", static_cast<int>(OutcomeKind::kFailed) + 1);
  message.outcome.message = fields.text("message");
  if (fields.has("out_of_memory")) {
    Fields facts(fields.map("out_of_memory"), "out_of_memory");
    message.outcome.out_of_memory = read_out_of_memory(facts);
    if (!facts.ok()) fields.refuse("out_of_memory", "is bad: " + facts.reason());
  }
  return message;
}

struct Kind {
  std::string_view name;
  Message (*read)(Fields& fields);
};

// In the order of Message's alternatives.
constexpr std::array<Kind, std::variant_size_v<Message>> kKinds = {{
    {"start_run", [](Fields& fields) -> Message { return read_start_run(fields); }},
    {"cancel", [](Fields& fields) -> Message { return Cancel{fields.counter("run")}; }},
    {"hello", [](Fields& fields) -> Message { return read_hello(fields); }},
    {"chunk",
     [](Fields& fields) -> Message {
       return Chunk{fields.counter("run"), fields.binary("bytes")};
     }},
    {"progress", [](Fields& fields) -> Message { return read_progress(fields); }},
    {"run_finished", [](Fields& fields) -> Message { return read_run_finished(fields); }},
    {"heartbeat", [](Fields& fields) -> Message { return Heartbeat{fields.counter("beats")}; }},
    {"refusal",
     [](Fields& fields) -> Message {
       return Refusal{fields.counter("run"), fields.text("reason")};
     }},
}};

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  json map = std::visit([](const auto& alternative) { return write(alternative); }, message);
  map["version"] = kVersion;
  map["kind"] = kKinds[message.index()].name;
  constexpr std::size_t kLengthBytes = 4;
  std::vector<std::uint8_t> frame(kLengthBytes);
  json::to_msgpack(map, frame);
  const std::size_t length = frame.size() - kLengthBytes;
  if (length > kMaxFrameBytes)
    throw std::length_error(
        fmt::format("a {} message of {} bytes does not fit a frame", kKinds[message.index()].name, length));
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame[i] = static_cast<std::uint8_t>(length >> (8 * i));
  const auto* first = reinterpret_cast<const std::byte*>(frame.data());
  return {first, first + frame.size()};
}

record::Result<Message> decode(std::span<const std::byte> body) {
  if (body.size() > kMaxFrameBytes)
    return record::Error{fmt::format("a message of {} bytes is larger than a frame", body.size())};
  const record::Result<json> tree = parse_message_pack(body);
  if (!tree) return record::Error{"a message cannot be read: " + tree.error().message};
  Fields head(tree.value(), "message");
  const std::int64_t version = head.integer("version");
  if (head.ok() && version != kVersion)
    return record::Error{fmt::format("a message has protocol version {}; this program speaks {}", version, kVersion)};
  const std::string name = head.text("kind");
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == kKinds.end()) head.refuse("kind", "is unknown: " + record::quoted(name));
  if (!head.ok()) return record::Error{head.reason()};
  Fields fields(tree.value(), name);
  Message message = kind->read(fields);
  if (!fields.ok()) return record::Error{fields.reason()};
  return message;
}

}  // namespace headroom::protocol
