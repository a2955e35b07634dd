// Splits a byte stream into frames.
#include <cstdint>

#include "demos/protocol/messages.h"

namespace headroom::protocol {

namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t read_length(const std::byte* bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  return length;
}

}  // namespace

void FrameReader::feed(std::span<const std::byte> bytes) {
  if (broken_) return;
  // Erases the consumed part only once it is the larger one, so that each byte moves at most once on average.
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
