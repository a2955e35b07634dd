// Table lookup for the maps of dynamic_code.h. The upper 16 bits of a magnitude select a cell, which has at most one
// border between two codes. The code is the third byte of the sum of the cell's number and the magnitude's bits; from
// the border on, a carry raises it to the next code. A lookup takes two instructions and one read, and gives
// dynamic_code()'s codes (tests/kernels/formats/dynamic_cells_test.cpp).
//
// Example, signed: 0.05 has the bits 0x3d4c'cccd, and all of cell 0x3d4c has the code 0x2e. The cell's number is
// (0x2e − 0x3d4c) << 16, and the sum is 0x002e'cccd.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/both.h"
#include "kernels/common/dynamic_code.h"

namespace headroom::kernels {

inline constexpr std::uint32_t kFirstCell = 0x3380;  // 2^−24, below all decades
inline constexpr std::uint32_t kLastCell = 0x3f80;   // 1, also when rounded up to 1 + 2^−23
inline constexpr int kCells = kLastCell - kFirstCell + 1;

// Codes in ascending order of magnitude. The number 1 has code 128 in the signed map; in the unsigned map code 256,
// later replaced by code 1.
class DynamicOrder {
 public:
  constexpr explicit DynamicOrder(bool is_signed)
      : top_(dynamic_threshold_as_float(is_signed, -1)), one_(is_signed ? 128 : 256), map_(dynamic_map(is_signed)) {
    for (int e = 0; e < kDecades; ++e) threshold_[e] = dynamic_threshold_as_float(is_signed, e);
  }
  constexpr std::uint32_t code(std::uint32_t bits) const {
    const float magnitude = __builtin_bit_cast(float, bits);
    if (magnitude >= top_) return one_;
    int e = 0;
    while (e < kDecades && magnitude < threshold_[e]) ++e;
    const DynamicDecade& decade = map_.decade[e];
    const float scaled = magnitude * decade.scale;
    const float place = scaled + decade.base;
    const float rounded = (place < decade.most ? place : decade.most) + 0x1p23f;
    return __builtin_bit_cast(std::uint32_t, rounded) & 0xffu;
  }

 private:
  float top_;
  std::uint32_t one_;
  float threshold_[kDecades] = {};
  DynamicMap map_;
};

struct alignas(16) DynamicCells {
  std::uint32_t number[(kCells + 3) / 4 * 4];
};

constexpr DynamicCells dynamic_cells(bool is_signed) {
  const DynamicOrder order(is_signed);
  DynamicCells cells{};
  std::uint32_t code = order.code(kFirstCell << 16);
  for (std::uint32_t cell = kFirstCell; cell <= kLastCell; ++cell) {
    const std::uint32_t begin = cell << 16, end = begin + 0x10000u;
    const std::uint32_t next = cell == kLastCell ? code : order.code(end);
    std::uint32_t border = end;  // first magnitude of the next code
    if (next != code) {
      std::uint32_t below = begin;
      while (border - below > 1) {
        const std::uint32_t middle = below + (border - below) / 2;
        if (order.code(middle) == code) {
          below = middle;
        } else {
          border = middle;
        }
      }
    }
    cells.number[cell - kFirstCell] = (code << 16) + (end - border) - begin;
    code = next;
  }
  return cells;
}

// The largest magnitude that is not coded as 1.
constexpr float below_one(bool is_signed) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, dynamic_threshold_as_float(is_signed, -1)) - 1);
}
template <bool kSigned>
struct BelowOne {
  static constexpr float kValue = below_one(kSigned);
};

// Requires kLeastMagnitude ≤ magnitude ≤ 1 + 2^−23.
inline constexpr float kLeastMagnitude = 0x1p-24f;  // smaller magnitudes have the same code
HEADROOM_BOTH std::uint32_t cell_sum(const DynamicCells& cells, float magnitude) {
  const std::uint32_t bits = bits_of(magnitude);
  return cells.number[static_cast<int>(bits >> 16) - static_cast<int>(kFirstCell)] + bits;
}

// Gathers byte `kByte` (2 or 3) of four words into one word.
template <int kByte>
HEADROOM_BOTH std::uint32_t gathered(const std::uint32_t (&words)[4]) {
#if defined(__CUDA_ARCH__)
  constexpr unsigned kTwo = kByte | (4 + kByte) << 4;
  return __byte_perm(__byte_perm(words[0], words[1], kTwo), __byte_perm(words[2], words[3], kTwo), 0x5410);
#else
  std::uint32_t word = 0;
  for (int k = 0; k < 4; ++k) word |= (words[k] >> (8 * kByte) & 0xffu) << (8 * k);
  return word;
#endif
}

// Four codes in a word: dynamic_code<true>(x) of each x = values[k] · inverse, |x| ≤ 1 + 2^−23 or NaN.
HEADROOM_BOTH std::uint32_t signed_codes(const float* values, float inverse, const DynamicCells& cells) {
  constexpr float kMost = BelowOne<true>::kValue;  // −1 has no code; fmaxf turns NaN into −kMost
  std::uint32_t sums[4], signs[4];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < 4; ++k) {
    const float x = values[k] * inverse;
    signs[k] = bits_of(x);
    sums[k] = cell_sum(cells, fmaxf(fabsf(fmaxf(x, -kMost)), kLeastMagnitude));
  }
  const std::uint32_t codes = gathered<2>(sums);
  const std::uint32_t has_sign = (codes & 0x7f7f7f7fu) + 0x7f7f7f7fu;  // bit 7: set if code is not 0 or 128
  return codes | (gathered<3>(signs) & has_sign & 0x80808080u);
}

// The same for dynamic_code<false>(x), 0 ≤ x ≤ 1 + 2^−23, no NaN.
HEADROOM_BOTH std::uint32_t unsigned_codes(const float* values, float inverse, const DynamicCells& cells) {
  std::uint32_t sums[4], least = 0xffffffffu;
  float x[4];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int k = 0; k < 4; ++k) {
    x[k] = values[k] * inverse;
    sums[k] = cell_sum(cells, fmaxf(x[k], kLeastMagnitude));
    least = bits_of(x[k]) < least ? bits_of(x[k]) : least;
  }
  // The cells give the number 1 code 256, whose low byte is 0; the code must be 1.
  std::uint32_t codes = gathered<2>(sums);
  const std::uint32_t others = codes | ((codes & 0x7f7f7f7fu) + 0x7f7f7f7fu);  // bit 7: set if code is not 0
  codes |= (~others & 0x80808080u) >> 7;
  if (least == 0) {  // some gradient was always 0
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < 4; ++k) codes &= x[k] == 0.0f ? ~(0xffu << (8 * k)) : 0xffffffffu;
  }
  return codes;
}

}  // namespace headroom::kernels
