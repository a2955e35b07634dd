// The cells give the codes of dynamic_code() for all magnitudes.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/common/dynamic_cells.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

constexpr kernels::DynamicMap kSignedMap = kernels::dynamic_map(true), kUnsignedMap = kernels::dynamic_map(false);
constexpr kernels::DynamicCells kSignedCells = kernels::dynamic_cells(true);
constexpr kernels::DynamicCells kUnsignedCells = kernels::dynamic_cells(false);

constexpr std::uint32_t kFirst = kernels::kFirstCell << 16, kOne = 0x3f80'0000, kLast = kOne + 1;  // 1 + 2^−23

template <bool kSigned>
std::uint32_t expected(float x) {
  return kernels::dynamic_code<kSigned>(x, (kSigned ? kSignedMap : kUnsignedMap).decade);
}
template <bool kSigned>
std::uint32_t by_cells(const float (&x)[4]) {
  return kSigned ? kernels::signed_codes(x, 1, kSignedCells) : kernels::unsigned_codes(x, 1, kUnsignedCells);
}

template <bool kSigned>
bool four_agree(std::uint32_t first) {
  float x[4];
  for (std::uint32_t k = 0; k < 4; ++k) x[k] = kernels::float_of(std::min(first + k, kLast));
  std::uint32_t word = 0;
  for (int k = 0; k < 4; ++k) word |= expected<kSigned>(x[k]) << (8 * k);
  if (by_cells<kSigned>(x) != word) return false;
  if (!kSigned) return true;
  for (float& value : x) value = -value;
  word = 0;
  for (int k = 0; k < 4; ++k) word |= expected<kSigned>(x[k]) << (8 * k);
  return by_cells<kSigned>(x) == word;
}

// Each code covers a contiguous range, so only intervals that contain a border are checked completely.
template <bool kSigned>
int wrong_words() {
  constexpr std::uint32_t kStep = 256;
  int wrong = 0;
  for (std::uint32_t bits = kFirst; bits < kOne; bits += kStep) {
    const bool border =
        expected<kSigned>(kernels::float_of(bits)) != expected<kSigned>(kernels::float_of(bits + kStep));
    for (std::uint32_t beside = 0; beside < kStep; beside += border ? 4 : kStep - 4)
      wrong += !four_agree<kSigned>(bits + beside);
  }
  return wrong + !four_agree<kSigned>(kOne - 2);
}

}  // namespace

TEST_CASE("cells give the codes of all magnitudes") {
  CHECK(wrong_words<true>() == 0);
  CHECK(wrong_words<false>() == 0);
}

TEST_CASE("cells give the codes of numbers below all decades, of zeros, and of NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), least = std::numeric_limits<float>::denorm_min();
  const float some[][4] = {{0, least, 1e-30f, 1}, {0, 0, 0, 0}, {1, 0.5f, 0, 1e-7f}, {1, 1, 1, 1}};
  for (const auto& x : some) {
    for (int k = 0; k < 4; ++k) {
      CAPTURE(x[k]);
      CHECK((by_cells<true>(x) >> (8 * k) & 0xffu) == expected<true>(x[k]));
      CHECK((by_cells<false>(x) >> (8 * k) & 0xffu) == expected<false>(x[k]));
    }
  }
  const float others[] = {nan, -nan, -0.0f, -least};
  for (int k = 0; k < 4; ++k) CHECK((by_cells<true>(others) >> (8 * k) & 0xffu) == expected<true>(others[k]));
}
