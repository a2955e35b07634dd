// Values of assets/text/numbers.csv, computed again from recordings, documents and formulas.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::tests {

// Names with values in the unit in which the number is printed. A number may print several values.
using NumberValues = std::vector<std::pair<std::string_view, double>>;
using NumberSources = std::span<NumberValues (*const)()>;

NumberSources sources_of_bytes();
NumberSources sources_of_times();
NumberSources sources_of_borders();

}  // namespace headroom::tests
