// Small helpers for the sentences that this folder hands to a person.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headroom::record {

// Foreign text made fit to print: control characters and bytes that are not UTF-8 become '?'.
std::string printable(std::string_view text);
// The same between quotes, cut after 80 bytes.
std::string quoted(std::string_view text);

bool valid_utf8(std::string_view text);
// The text itself, or where it is not UTF-8 a copy with '?' for every byte beyond ASCII.
std::string as_utf8(std::string_view text);

// How many characters must be typed, deleted or replaced to turn one text into the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate that is nearest to `text`; empty where there is none.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace headroom::record
