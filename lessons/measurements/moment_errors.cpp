#include "lessons/measurements/moment_errors.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace headroom::lessons {

std::string MomentWay::label() const {
  return fmt::format("{} levels, blocks of {}", dynamic ? "dynamic" : "even", record::format_count(block));
}

std::vector<MomentWay> moment_ways(const record::Recording& recording, std::string_view moment) {
  std::vector<MomentWay> ways;
  for (const record::Histogram& each : recording.histograms()) {
    // "first_moment.dynamic.256"
    std::string_view rest = each.name;
    if (!rest.starts_with(moment) || each.errors.empty()) continue;
    rest.remove_prefix(moment.size());
    const bool even = rest.starts_with(".linear."), dynamic = rest.starts_with(".dynamic.");
    if (!even && !dynamic) continue;
    rest.remove_prefix(rest.find('.', 1) + 1);
    MomentWay way{.dynamic = dynamic, .errors = &each};
    if (std::from_chars(rest.data(), rest.data() + rest.size(), way.block).ec != std::errc()) continue;
    const auto same = [&](const MomentWay& other) { return other.dynamic == dynamic && other.block == way.block; };
    if (const auto known = std::ranges::find_if(ways, same); known != ways.end())
      *known = way;
    else
      ways.push_back(way);
  }
  return ways;
}

double mean_error(const record::Histogram& histogram) {
  double sum = 0, numbers = 0;
  for (std::size_t i = 0; i < histogram.counts.size() && i < histogram.errors.size(); ++i) {
    const auto count = static_cast<double>(histogram.counts[i]);
    sum += count * histogram.errors[i];
    numbers += count;
  }
  return numbers > 0 ? 100 * sum / numbers : -1;
}

double error_of(const std::vector<MomentWay>& ways, bool dynamic, std::int64_t block) {
  for (const MomentWay& way : ways)
    if (way.dynamic == dynamic && way.block == block) return mean_error(*way.errors);
  return -1;
}

double second_moment_error(const record::Recording& recording, bool dynamic, std::int64_t block) {
  return error_of(moment_ways(recording, "second_moment"), dynamic, block);
}

}  // namespace headroom::lessons
