// The maps of dynamic_code.h looked up by a magnitude's bits: its upper 16 bits name a cell, which has at most one border
// between two codes. A cell's number and the magnitude's bits add up to the code in the third byte: what is at or above the
// border carries into it. Same codes as dynamic_code(), in two instructions and one read.
//
// Worked example, signed: 0.05 has the bits 0x3d4c'cccd and is in cell 0x3d4c, all of which has the code 0x2e. The cell's
// number is (0x2e − 0x3d4c) << 16, and the sum 0x002e'cccd.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/common/dynamic_code.h"

namespace headroom::kernels {

inline constexpr std::uint32_t kFirstCell = 0x3380;  // 2^−24, which is below all decades
inline constexpr std::uint32_t kLastCell = 0x3f80;   // 1, and what rounding makes of it
inline constexpr int kCells = kLastCell - kFirstCell + 1;

// Magnitudes' codes in the order of their values: those of no decade, of the decades, and the next one for 1, which is 128
// in the signed map, and 256, to be replaced by 1, in the unsigned one.
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
    std::uint32_t border = end;  // the first magnitude of the next code
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

// The largest magnitude below that of 1.
constexpr float below_one(bool is_signed) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, dynamic_threshold_as_float(is_signed, -1)) - 1);
}

template <bool kSigned>
struct BelowOne {
  static constexpr float kValue = below_one(kSigned);
};

}  // namespace headroom::kernels
