// Computes number formats with powers of two alone.
#include "lessons/theory/number_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/units.h"

namespace headroom::lessons {

namespace {

// The exponent of a value, clamped to the format's range.
int exponent_of(const NumberFormat& format, double value) {
  const int exponent = value == 0 ? format.least_normal() : std::ilogb(value);
  return std::clamp(exponent, format.least_normal(), format.most_exponent);
}

double least_number(const NumberFormat& format) { return format.whole() ? -format.most - 1 : -format.most; }

double limited(const NumberFormat& format, double number, bool cuts) {
  const double low = least_number(format);
  if (number >= low && number <= format.most) return number;
  if (format.saturates || cuts) return std::clamp(number, low, format.most);
  return std::copysign(std::numeric_limits<double>::infinity(), number);
}

std::string superscript(int number) {
  constexpr std::array<std::string_view, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number)) text += c == '-' ? "⁻" : kDigits[static_cast<std::size_t>(c - '0')];
  return text;
}

}  // namespace

const NumberFormat& number_format(std::string_view key) {
  const auto* const found = std::ranges::find(kNumberFormats, key, &NumberFormat::key);
  if (found == kNumberFormats.end()) throw std::logic_error("number format");
  return *found;
}

double spacing_at(const NumberFormat& format, double value) {
  if (format.whole()) return 1;
  return std::ldexp(1.0, exponent_of(format, value) - format.fraction_bits);
}

int digits_at(const NumberFormat& format, int exponent) {
  if (exponent > format.most_exponent || exponent < format.least()) return 0;
  if (format.whole()) return exponent + 1;
  return 1 + format.fraction_bits - std::max(0, format.least_normal() - exponent);
}

double rounded(const NumberFormat& format, double value, Rounding rounding, double random) {
  if (!std::isfinite(value)) return value;
  const double spacing = spacing_at(format, value), size = std::abs(value) / spacing;
  double steps = std::floor(size);
  const double cut = size - steps;
  if (rounding == Rounding::kNearest) steps = std::nearbyint(size);
  if (rounding == Rounding::kStochastic && random < cut) steps += 1;
  return limited(format, std::copysign(steps * spacing, value), rounding == Rounding::kTowardZero);
}

std::uint32_t code_of(const NumberFormat& format, double number) {
  const std::uint32_t mask = std::numeric_limits<std::uint32_t>::max() >> (32 - format.bits());
  if (format.whole()) return static_cast<std::uint32_t>(static_cast<std::int32_t>(number)) & mask;
  const std::uint32_t sign = std::signbit(number) ? 1U << (format.bits() - 1) : 0;
  const std::uint32_t ones = (mask >> 1) >> format.fraction_bits << format.fraction_bits;
  if (std::isinf(number)) return sign | (format.most_exponent > format.bias() ? mask >> 1 : ones);
  if (std::isnan(number)) return mask >> 1;
  const double steps = std::abs(number) / spacing_at(format, number);
  const int exponent = exponent_of(format, number) - format.least_normal();
  // A normal number's leading one adds one to the exponent field.
  return sign | ((static_cast<std::uint32_t>(exponent) << format.fraction_bits) + static_cast<std::uint32_t>(steps));
}

double number_of_code(const NumberFormat& format, std::uint32_t code) {
  const int bits = format.bits();
  const bool negative = (code >> (bits - 1) & 1U) != 0;
  if (format.whole()) return static_cast<double>(code) - (negative ? std::ldexp(1.0, bits) : 0);
  const std::uint32_t size = code & ~(1U << (bits - 1)), most = code_of(format, format.most);
  const double sign = negative ? -1 : 1;
  if (size > most) {
    const bool infinite = size == most + 1 && format.most_exponent == format.bias();
    return infinite ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  const auto exponent = static_cast<int>(size >> format.fraction_bits);
  const std::uint32_t fraction = size & ((1U << format.fraction_bits) - 1U);
  const std::uint32_t steps = fraction | (exponent == 0 ? 0U : 1U << format.fraction_bits);
  return sign * std::ldexp(static_cast<double>(steps), std::max(exponent, 1) - format.bias() - format.fraction_bits);
}

std::int64_t numbers_between(const NumberFormat& format, double low, double high) {
  return std::int64_t{code_of(format, high)} - std::int64_t{code_of(format, low)};
}

std::string number_text(double value, int digits) {
  const double size = std::abs(value);
  const std::string_view sign = value < 0 ? "−" : "";
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return fmt::format("{}infinity", sign);
  if (size == std::floor(size) && size < 1e6)
    return fmt::format("{}{}", sign, record::format_count(static_cast<std::int64_t>(size)));
  if (size >= 1e-3 && size < 1e6) return fmt::format("{}{:.{}g}", sign, size, digits);
  const std::string text = fmt::format("{:.{}e}", size, digits - 1);
  const std::size_t e = text.find('e');
  std::string front = text.substr(0, e);
  if (digits > 3 && front.find_last_not_of("0.") != std::string::npos)  // "1.5" needs fewer digits
    front.erase(front.find_last_not_of("0.") + 1);
  return fmt::format("{}{}·10{}", sign, front, superscript(std::stoi(text.substr(e + 1))));
}

std::string power_of_two(int exponent) { return "2" + superscript(exponent); }

}  // namespace headroom::lessons
