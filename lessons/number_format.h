// Number formats of few bits as arithmetic: which numbers each has, how far apart they are, and what rounding makes of a
// value. Everything is in fp64, which holds all numbers of all of them exactly.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::lessons {

enum class Rounding : std::uint8_t { kNearest, kTowardZero, kStochastic };

// IEEE 754-2019 has fp32 and fp16; bf16 and TF32 cut fractions off fp32; E4M3 and E5M2 are those of Micikevicius et al.
// 2022, arXiv:2209.05433, table 1. Without bits of exponent a number is a whole one in two's complement.
struct NumberFormat {
  std::string_view key, name;
  int exponent_bits = 0, fraction_bits = 0;  // of a whole number all bits but the sign
  int most_exponent = 0;                     // of the largest number
  double most = 0;                           // the largest number
  bool saturates = false;  // what is too large becomes the largest number, as casts of this program do

  constexpr bool whole() const { return exponent_bits == 0; }
  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return whole() ? 0 : (1 << (exponent_bits - 1)) - 1; }
  // Exponents: below `least_normal` numbers have fewer digits; the smallest is 2^least.
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

const NumberFormat& number_format(std::string_view key);  // throws where there is none

// The distance from one number to the next one away from zero, in the binade of `value`.
double spacing_at(const NumberFormat& format, double value);
// How many digits in base 2 the numbers of size [2^exponent, 2^(exponent + 1)) have; 0: there are none.
int digits_at(const NumberFormat& format, int exponent);

// The number that `value` becomes. Nearest: ties to even. Stochastic: away from zero if `random`, from [0, 1), is below the
// part of the spacing that would be cut off.
double rounded(const NumberFormat& format, double value, Rounding rounding = Rounding::kNearest, double random = 0);

// The number next to one of the format, above or below; itself at the end of the range.
double neighbor(const NumberFormat& format, double number, bool above);

// Sign, exponent and fraction from the highest bit down, of a number of the format; and back. Codes may be infinite or no
// number.
std::uint32_t code_of(const NumberFormat& format, double number);
double number_of_code(const NumberFormat& format, std::uint32_t code);

// Numbers of the format in [low, high), both not negative and of the format.
std::int64_t numbers_between(const NumberFormat& format, double low, double high);

// "65,504", "0.00781", "3.40·10³⁸": with so many digits that count.
std::string number_text(double value, int digits = 3);
// "2⁻⁷"
std::string power_of_two(int exponent);

}  // namespace headroom::lessons
