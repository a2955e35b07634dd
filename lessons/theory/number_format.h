// Low-bit number formats: numbers, spacing and rounding. fp64 represents all of their numbers exactly.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::lessons {

enum class Rounding : std::uint8_t { kNearest, kTowardZero, kStochastic };

// IEEE 754-2019 defines fp32 and fp16; bf16 and TF32 shorten fp32's fraction; E4M3 and E5M2 are those of Micikevicius
// et al. 2022, arXiv:2209.05433, table 1. Formats without exponent bits are two's complement integers.
struct NumberFormat {
  std::string_view key, name;
  int exponent_bits = 0, fraction_bits = 0;  // integers: all bits but the sign are fraction bits
  int most_exponent = 0;                     // exponent of the largest number
  double most = 0;
  bool saturates = false;  // overflow becomes the largest number, as in the program's casts

  constexpr bool whole() const { return exponent_bits == 0; }
  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return whole() ? 0 : (1 << (exponent_bits - 1)) - 1; }
  // Numbers below 2^least_normal() have fewer digits; the smallest is 2^least().
  constexpr int least_normal() const { return whole() ? 0 : 1 - bias(); }
  constexpr int least() const { return whole() ? 0 : least_normal() - fraction_bits; }
};

inline constexpr std::array<NumberFormat, 8> kNumberFormats{{
    {"fp32", "fp32", 8, 23, 127, 0x1.fffffep127},
    {"tf32", "TF32", 8, 10, 127, 0x1.ffcp127},
    {"bf16", "bf16", 8, 7, 127, 0x1.fep127},
    {"fp16", "fp16", 5, 10, 15, 0x1.ffcp15},
    {"e4m3", "FP8 E4M3", 4, 3, 8, 448, true},
    {"e5m2", "FP8 E5M2", 5, 2, 15, 57'344, true},
    {"int8", "INT8", 0, 7, 6, 127, true},
    {"int4", "INT4", 0, 3, 2, 7, true},
}};

const NumberFormat& number_format(std::string_view key);  // throws if unknown

// Distance to the next number away from zero, in the binade of `value`.
double spacing_at(const NumberFormat& format, double value);
// Binary digits of numbers in [2^exponent, 2^(exponent + 1)); 0: no such numbers.
int digits_at(const NumberFormat& format, int exponent);

// Nearest: ties to even. Stochastic: away from zero if `random`, in [0, 1), is below the share of the spacing to be cut
// off.
double rounded(const NumberFormat& format, double value, Rounding rounding = Rounding::kNearest, double random = 0);

// The bits of a number, even infinite or NaN: sign, exponent and fraction from the highest bit down.
std::uint32_t code_of(const NumberFormat& format, double number);
double number_of_code(const NumberFormat& format, std::uint32_t code);

// Count of numbers in [low, high), with nonnegative bounds of the format.
std::int64_t numbers_between(const NumberFormat& format, double low, double high);

// "65,504", "0.00781", "3.40·10³⁸": with `digits` significant digits.
std::string number_text(double value, int digits = 3);
std::string power_of_two(int exponent);

}  // namespace headroom::lessons
