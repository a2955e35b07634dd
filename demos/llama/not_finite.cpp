// Compares magnitudes as integers, several at a time.
#include "demos/llama/not_finite.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace headroom::llama {

namespace {

// Bits of the smallest magnitude that is not finite in `as`; 0: none. Without signs, numbers are ordered like their
// bits.
std::uint32_t least_not_finite(StoredType stored, StoredType as) {
  switch (stored) {
    case StoredType::kF32:  // infinite in F16 from 65,520, in BF16 from 2^128 - 2^119
      return as == StoredType::kF16 ? 0x477ff000 : as == StoredType::kBf16 ? 0x7f7f8000 : 0x7f800000;
    case StoredType::kBf16:  // 65,536 in F16; else infinity
      return as == StoredType::kF16 ? 0x4780 : 0x7f80;
    case StoredType::kF16:
      return 0x7c00;
    case StoredType::kI64:
    case StoredType::kI32:
    case StoredType::kU8:
      break;
  }
  return 0;
}

std::uint32_t magnitude_at(std::span<const std::byte> values, std::size_t index, std::size_t size) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, values.data() + index * size, size);
  return bits & (size == 2 ? 0x7fffu : 0x7fffffffu);
}

}  // namespace

std::optional<std::size_t> first_not_finite(std::span<const std::byte> values, StoredType stored, StoredType as) {
  const std::uint32_t least = least_not_finite(stored, as);
  if (least == 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(bytes_of(stored));
  // A word holds two or four numbers. Adding (sign bit - `least`) to each sets the sign bit of numbers from `least` up,
  // and never carries into the next number.
  const std::uint64_t signs = size == 2 ? 0x8000'8000'8000'8000 : 0x8000'0000'8000'0000;
  const std::uint64_t ones = size == 2 ? 0x0001'0001'0001'0001 : 0x0000'0001'0000'0001;
  const std::uint64_t missing = ones * ((size == 2 ? 0x8000u : 0x80000000u) - least);
  constexpr std::size_t kWord = sizeof(std::uint64_t), kBlock = 4096;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, values.size());
    std::uint64_t found = 0;
    std::size_t at = begin;
    for (; at + kWord <= end; at += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, values.data() + at, kWord);
      found |= ((word & ~signs) + missing) & signs;
    }
    if (found == 0 && at == end) continue;
    for (std::size_t index = begin / size; index < end / size; ++index)
      if (magnitude_at(values, index, size) >= least) return index;
  }
  return std::nullopt;
}

std::string words_of_not_finite(std::span<const std::byte> values, std::size_t index, StoredType stored,
                                StoredType as) {
  const auto size = static_cast<std::size_t>(bytes_of(stored));
  const std::uint32_t magnitude = magnitude_at(values, index, size);
  const std::uint32_t infinity = least_not_finite(stored, stored);
  if (magnitude > infinity) return "a NaN";
  if (magnitude == infinity) return "an infinity";
  const float number = std::bit_cast<float>(size == 2 ? magnitude << 16 : magnitude);  // BF16 is the upper half of F32
  return fmt::format("{:.6g}, an infinity in {}", number, name_of(as));
}

}  // namespace headroom::llama
