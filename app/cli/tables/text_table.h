// Formats rows as text: words left-aligned, numbers right-aligned, and bytes in one unit for all columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/shown_unit.h"

namespace headroom::app {

// The first row is the head. Columns from `first_number` on are right-aligned; those empty below the head are
// omitted. Lines are indented by two and end with a newline.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::size_t first_number);

// The unit for numbers up to `largest`. GiB even if `largest` is some TiB, so that a card of 24 GiB keeps its digits.
lessons::ShownUnit table_unit(record::Bytes largest);

// "70.27 GiB", "0.134 GiB", "<0.001 GiB".
std::string table_bytes(record::Bytes bytes, const lessons::ShownUnit& unit);

}  // namespace headroom::app
