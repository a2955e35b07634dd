// Frames are found in a byte stream, however it is split.
#include <random>

#include "demos/protocol/messages.h"
#include "tests/support/catch.h"

using namespace headroom::protocol;

namespace {

std::vector<std::byte> frame_of(std::size_t length, int fill) {
  std::vector<std::byte> frame(4 + length, static_cast<std::byte>(fill));
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<std::byte>(length >> (8 * i));
  return frame;
}

std::vector<std::byte> length_only(std::uint32_t length) {
  std::vector<std::byte> bytes(4);
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(length >> (8 * i));
  return bytes;
}

}  // namespace

TEST_CASE("frames arrive complete and in order, however the stream is split") {
  std::vector<std::byte> stream;
  std::mt19937 random(1);
  std::vector<std::size_t> lengths;
  for (int i = 0; i < 200; ++i) {
    lengths.push_back(1 + random() % 1000);
    const auto frame = frame_of(lengths.back(), i);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  FrameReader reader;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t piece = std::min<std::size_t>(1 + random() % 700, stream.size() - at);
    reader.feed(std::span(stream).subspan(at, piece));
    at += piece;
    for (auto body = reader.next(); !body.empty(); body = reader.next()) {
      REQUIRE(body.size() == lengths[seen]);
      CHECK(body.front() == static_cast<std::byte>(seen));
      CHECK(body.back() == static_cast<std::byte>(seen));
      ++seen;
    }
  }
  CHECK(seen == lengths.size());
  CHECK_FALSE(reader.broken());
}

TEST_CASE("a message is read from a stream of single bytes") {
  const auto frame = encode(Cancel{12});
  FrameReader reader;
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) {
    reader.feed(std::span(frame).subspan(i, 1));
    REQUIRE(reader.next().empty());
  }
  reader.feed(std::span(frame).last(1));
  const auto message = decode(reader.next());
  REQUIRE(message.ok());
  CHECK(std::get<Cancel>(message.value()).run == 12);
}

TEST_CASE("an impossible length ends the stream") {
  const std::uint32_t length = GENERATE(0u, static_cast<std::uint32_t>(kMaxFrameBytes) + 1, 0x7fffffffu, 0xffffffffu);
  FrameReader reader;
  reader.feed(length_only(length));
  CHECK(reader.next().empty());
  CHECK(reader.broken());
  reader.feed(encode(Cancel{12}));
  CHECK(reader.next().empty());
}

TEST_CASE("the largest frame is accepted") {
  FrameReader reader;
  reader.feed(frame_of(kMaxFrameBytes, 1));
  CHECK(reader.next().size() == kMaxFrameBytes);
  CHECK_FALSE(reader.broken());
}
