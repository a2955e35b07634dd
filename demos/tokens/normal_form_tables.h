// What Unicode's data files say about canonical decomposition; written by tools/unicode_tables.py.
#pragma once

#include <cstdint>
#include <span>

namespace headroom::tokens {

// A character is these two, or the first alone where the second is 0. Sorted by the character; without Hangul.
struct Decomposition {
  std::uint32_t character, first, second;
};
std::span<const Decomposition> decompositions();

// Characters that decompose into two and are never composed again, sorted.
std::span<const std::uint32_t> composition_exclusions();

// Characters from first to last have this combining class; sorted, and all others have 0.
struct CombiningRange {
  std::uint32_t first, last, combining_class;
};
std::span<const CombiningRange> combining_ranges();

}  // namespace headroom::tokens
