// Formats bytes in one unit for all columns of a table.
#pragma once

#include <string>

#include "demos/record/units.h"
#include "lessons/shown_unit.h"

namespace headroom::app {

// The unit for numbers up to `largest`. GiB even for some TiB, so that a card of 24 GiB keeps its digits.
lessons::ShownUnit table_unit(record::Bytes largest);

// "70.27 GiB", "0.134 GiB", "<0.001 GiB".
std::string table_bytes(record::Bytes bytes, const lessons::ShownUnit& unit);

}  // namespace headroom::app
