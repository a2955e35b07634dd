#include "demos/experiments/sweep_axes.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "demos/record/file/split.h"
#include "demos/record/text.h"

namespace headroom::experiments {

using record::Error;
using record::Params;

namespace {

record::Result<SweepAxis> axis_from(record::Schema schema, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return Error{fmt::format("{}: a sweep needs a key and its values, such as batch=1,4,8.", record::quoted(text))};
  SweepAxis axis{text.substr(0, equals), {}};
  Params params(schema);
  for (const std::string& value : record::split(std::string_view(text).substr(equals + 1), ',')) {
    if (auto set = params.set(axis.key, std::string_view(value)); !set) return set.error();
    std::string written = params.as_text(axis.key);
    if (std::find(axis.values.begin(), axis.values.end(), written) != axis.values.end())
      return Error{fmt::format("{} has the value {} twice.", record::quoted(text), written)};
    axis.values.push_back(std::move(written));
  }
  return axis;
}

}  // namespace

record::Result<std::vector<SweepAxis>> sweep_axes(record::Schema schema, std::span<const std::string> texts) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : texts) {
    auto axis = axis_from(schema, text);
    if (!axis) return axis.error();
    for (const SweepAxis& other : axes)
      if (other.key == axis.value().key) return Error{fmt::format("The sweep names {} twice.", other.key)};
    axes.push_back(std::move(axis).value());
  }
  return axes;
}

std::vector<SweptSettings> swept_settings(const Params& base, std::span<const SweepAxis> axes) {
  std::vector<SweptSettings> all;
  const SweepAxis& first = axes.front();
  // Each series is one combination of the other axes' values, counted up like digits.
  std::vector<std::size_t> digit(axes.size(), 0);
  for (bool more = true; more;) {
    Params params = base;
    std::vector<std::string> series;
    for (std::size_t i = 1; i < axes.size(); ++i) {
      const std::string& value = axes[i].values[digit[i]];
      (void)params.set(axes[i].key, std::string_view(value));  // checked by sweep_axes()
      series.push_back(axes[i].key + "=" + value);
    }
    for (const std::string& value : first.values) {
      (void)params.set(first.key, std::string_view(value));
      all.push_back({fmt::format("{}", fmt::join(series, " ")), first.key + "=" + value, params});
    }
    more = false;
    for (std::size_t i = 1; i < axes.size() && !more; ++i) {
      digit[i] = (digit[i] + 1) % axes[i].values.size();
      more = digit[i] != 0;
    }
  }
  return all;
}

}  // namespace headroom::experiments
