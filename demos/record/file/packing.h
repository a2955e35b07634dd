// Numbers as bytes: LEB128 integers (7 bits per byte, the highest bit continues) and CRC-32C.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace headroom::record {

// Maps small numbers of either sign to small unsigned ones: 0 -1 1 -2 2 … → 0 1 2 3 4 …
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}
// Wraps around, so that any two numbers have a difference.
constexpr std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class Packer {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void fixed16(std::uint16_t value) {
    for (int shift = 0; shift < 16; shift += 8) byte(static_cast<std::uint8_t>(value >> shift));
  }
  void fixed32(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) byte(static_cast<std::uint8_t>(value >> shift));
  }
  void fixed64(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(value >> shift));
  }
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Past the end, or after a number that does not fit in 64 bits, all reads return 0 and ok() is false. Check ok() once
// per column.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return ok_ ? bytes_.size() - at_ : 0; }

  std::uint8_t byte() {
    if (left() == 0) return fail();
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t part = byte();
      if (shift == 63 && part > 1) return fail();  // the tenth byte has only bit 63
      value |= (part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    return fail();
  }
  std::uint16_t fixed16() {
    const std::uint8_t low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }
  std::uint32_t fixed32() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= std::uint32_t{byte()} << shift;
    return value;
  }
  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 8) value |= std::uint64_t{byte()} << shift;
    return value;
  }
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left()) {
      fail();
      return {};
    }
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

 private:
  std::uint8_t fail() {
    ok_ = false;
    return 0;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78; RFC 3720, appendix B.4). Detects all burst errors up to 32
// bits.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace headroom::record
