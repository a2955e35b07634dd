// Encodes messages as maps of version, kind and fields.
#include "demos/protocol/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "demos/protocol/message_pack.h"
#include "demos/record/json_fields.h"
#include "demos/record/text.h"

namespace headroom::protocol {

using record::Form;
using record::json;
using record::JsonReader;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

// --- fields of the messages

template <class Io>
void fields(Io& io, StartRun& message) {
  io.counter("run", message.run);
  io.text("demo", message.demo);
  io.texts("params", message.params);
  io.flag("record", message.record);
}

template <class Io>
void fields(Io& io, Cancel& message) {
  io.counter("run", message.run);
}

template <class Io>
void fields(Io& io, DeviceFacts& device) {
  io.choice("kind", device.kind, record::kNumDeviceKinds);
  io.text("key", device.key);
  io.text("name", device.name);
  io.whole("memory", device.memory, kMost);
  io.whole("free_memory", device.free_memory, kMost);
}

template <class Io>
void fields(Io& io, Hello& message) {
  io.whole("pid", message.pid, kMost);
  io.objects("devices", message.devices);
  io.texts("facts", message.facts);
}

template <class Io>
void fields(Io& io, Chunk& message) {
  io.counter("run", message.run);
  io.bytes("bytes", message.bytes);
}

template <class Io>
void fields(Io& io, Progress& message) {
  io.counter("run", message.run);
  io.whole("step", message.step, record::kMostSteps);
  io.whole("steps", message.steps, record::kMostSteps);
  io.real("fraction", message.fraction, 0, 1);
  io.whole("time_left", message.time_left, kMost, -1);
  io.text("doing", message.doing);
}

template <class Io>
void fields(Io& io, RunFinished& message) {
  io.counter("run", message.run);
  io.object("outcome", message.outcome);
}

template <class Io>
void fields(Io& io, Heartbeat& message) {
  io.counter("beats", message.beats);
}

template <class Io>
void fields(Io& io, Refusal& message) {
  io.counter("run", message.run);
  io.text("reason", message.reason);
}

namespace {

template <class Alternative>
Message read(JsonReader& reader) {
  Alternative message;
  fields(reader, message);
  return message;
}

struct Kind {
  std::string_view name;
  Message (*read)(JsonReader& reader);
};

// In the order of Message's alternatives.
constexpr std::array<Kind, std::variant_size_v<Message>> kKinds = {{{"start_run", read<StartRun>},
                                                                    {"cancel", read<Cancel>},
                                                                    {"hello", read<Hello>},
                                                                    {"chunk", read<Chunk>},
                                                                    {"progress", read<Progress>},
                                                                    {"run_finished", read<RunFinished>},
                                                                    {"heartbeat", read<Heartbeat>},
                                                                    {"refusal", read<Refusal>}}};

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  json map = std::visit([](const auto& each) { return record::to_object(each, Form::kMessagePack); }, message);
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
  JsonReader head(tree.value(), "message");
  std::int64_t version = 0;
  head.whole("version", version, kMost, std::numeric_limits<std::int64_t>::min());
  if (head.ok() && version != kVersion)
    return record::Error{fmt::format("a message has protocol version {}; this program speaks {}", version, kVersion)};
  std::string name;
  head.text("kind", name);
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == kKinds.end()) head.refuse("kind", "is unknown: " + record::quoted(name));
  if (!head.ok()) return record::Error{head.reason()};
  JsonReader reader(tree.value(), name);
  Message message = kind->read(reader);
  if (!reader.ok()) return record::Error{reader.reason()};
  return message;
}

}  // namespace headroom::protocol
