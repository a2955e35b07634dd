// Helpers for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace headroom::record {

// Replaces control characters and bytes that are not UTF-8 by '?'.
std::string printable(std::string_view text);
// printable() in quotes, cut after 80 bytes.
std::string quoted(std::string_view text);

bool valid_utf8(std::string_view text);
// If not UTF-8, replaces every byte beyond ASCII by '?'.
std::string as_utf8(std::string_view text);

// A label inside a sentence: "Fused RMSNorm" becomes "fused RMSNorm"; names such as GPUs and ZeRO stay.
std::string in_lower_case(std::string_view label);

// Number of insertions, deletions and replacements between two texts (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

// Empty without candidates.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace headroom::record
