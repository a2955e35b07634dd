// Encodes each message as a map of version, kind and fields, and splits a byte stream into frames. Scans untrusted
// MessagePack for limits before building a tree.
#include "demos/protocol/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "demos/record/file/json_fields.h"
#include "demos/record/text.h"

namespace headroom::protocol {

using record::Form;
using record::json;
using record::JsonReader;

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// A 16 MiB frame can hold 16 million one-byte values, whose tree takes 0.5 GB. The largest real message (Hello) has
// some tens of values.
constexpr std::size_t kMaxValues = 100'000;

}  // namespace

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
  io.counter("collectives", message.collectives);
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

// nlohmann's reader recurses once per level and overflows the stack after some ten thousand levels. Returning false
// stops it.
class Guard final : public nlohmann::json_sax<json> {
 public:
  std::string reason;

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool string(string_t& value) override { return count() && check_text(value); }
  bool key(string_t& value) override { return count() && check_text(value); }
  bool start_object(std::size_t) override { return count() && enter(); }
  bool start_array(std::size_t) override { return count() && enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    reason = fmt::format("not valid MessagePack at byte {}", position);
    return false;
  }

 private:
  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }
  bool count() { return ++values_ <= kMaxValues || refuse(fmt::format("more than {} values", kMaxValues)); }
  bool check_text(const std::string& text) { return record::valid_utf8(text) || refuse("text that is not UTF-8"); }
  bool enter() { return ++depth_ <= kMaxDepth || refuse(fmt::format("nested deeper than {} levels", kMaxDepth)); }
  bool leave() {
    --depth_;
    return true;
  }

  std::size_t values_ = 0;
  int depth_ = 0;
};

// Refuses more than kMaxDepth levels or kMaxValues values, text that is not UTF-8, and trailing bytes.
record::Result<json> parse_message_pack(std::span<const std::byte> bytes) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  Guard guard;
  if (!json::sax_parse(first, first + bytes.size(), &guard, json::input_format_t::msgpack))
    return record::Error{guard.reason};
  return json::from_msgpack(first, first + bytes.size(), true, false);
}

std::size_t read_length(const std::byte* bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return length;
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  json map = std::visit([](const auto& each) { return record::to_object(each, Form::kMessagePack); }, message);
  map["version"] = kVersion;
  map["kind"] = kKinds[message.index()].name;
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

void FrameReader::feed(std::span<const std::byte> bytes) {
  if (broken_) return;
  // Erases the consumed part only once it is larger than the rest, so that each byte moves at most once on average.
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> FrameReader::next() {
  const std::size_t available = buffer_.size() - start_;
  if (broken_ || available < kLengthBytes) return {};
  const std::size_t length = read_length(buffer_.data() + start_);
  if (length == 0 || length > kMaxFrameBytes) {
    broken_ = true;
    buffer_ = {};
    start_ = 0;
    return {};
  }
  if (available < kLengthBytes + length) return {};
  const auto body = buffer_.begin() + static_cast<std::ptrdiff_t>(start_ + kLengthBytes);
  start_ += kLengthBytes + length;
  return {body, body + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace headroom::protocol
