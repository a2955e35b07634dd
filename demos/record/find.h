// Looks up rows of tables.
#pragma once

#include <algorithm>
#include <ranges>

namespace headroom::record {

// Null if no row matches.
template <std::ranges::forward_range Rows, class Value, class Member>
constexpr auto* find_in(Rows&& rows, const Value& value, Member member) {
  const auto found = std::ranges::find(rows, value, member);
  return found == std::ranges::end(rows) ? nullptr : &*found;
}

}  // namespace headroom::record
