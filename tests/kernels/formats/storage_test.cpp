// Loads and stores of bf16 and fp16 on the CPU, against the compiler's conversions.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/storage_cpu.h"
#include "tests/support/catch.h"

using namespace headroom::kernels;

namespace {

std::uint16_t stored(float value) {
  Fp16 place{};
  store(place, value);
  return place.bits;
}

}  // namespace

TEST_CASE("every fp16 number is loaded as the compiler converts it") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const Fp16 value{static_cast<std::uint16_t>(bits)};
    const float ours = load(value), exact = static_cast<float>(std::bit_cast<_Float16>(value.bits));
    wrong += std::isnan(exact) ? !std::isnan(ours)
                               : std::bit_cast<std::uint32_t>(ours) != std::bit_cast<std::uint32_t>(exact);
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp32 numbers are rounded to fp16 as the compiler rounds them") {
  int wrong = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1009) {  // a prime: reaches all mantissa bits
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const std::uint16_t ours = stored(value);
    wrong += std::isnan(value) ? (ours & 0x7fffu) <= 0x7c00u
                               : ours != std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  }
  CHECK(wrong == 0);
}

TEST_CASE("ties round to even, overflow to infinity, and underflow to a signed zero") {
  CHECK(stored(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(stored(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(stored(65519.0f) == 0x7bff);
  CHECK(stored(65520.0f) == 0x7c00);
  CHECK(stored(0x1p-24f) == 0x0001);
  CHECK(stored(-0x1p-25f) == 0x8000);
  CHECK(stored(-std::numeric_limits<float>::infinity()) == 0xfc00);
}
