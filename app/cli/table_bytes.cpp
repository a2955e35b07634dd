#include "app/cli/table_bytes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headroom::app {

using record::Bytes;

lessons::ShownUnit table_unit(Bytes largest) {
  constexpr Bytes kMost = 1000 * record::kGiB;
  return lessons::byte_unit(static_cast<double>(std::min(largest, kMost)));
}

std::string table_bytes(Bytes bytes, const lessons::ShownUnit& unit) {
  const auto number = static_cast<double>(bytes);
  const double size = std::abs(number) / unit.size;
  if (size == 0) return fmt::format("0 {}", unit.name);
  if (size < 0.0005 && unit.size > 1) return fmt::format("{}<0.001 {}", bytes < 0 ? "−" : "", unit.name);
  return fmt::format("{} {}", lessons::in_unit(number, unit, size < 1 ? 3 : 2), unit.name);
}

}  // namespace headroom::app
