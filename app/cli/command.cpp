// Applies the common options, and suggests names.
#include "app/cli/command.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::app {

record::Status set_flag(record::Params& params, std::string_view demo, std::string_view key,
                        const std::optional<std::string>& value) {
  if (!value) return record::Ok{};
  if (!params.has(key)) return record::Error{fmt::format("{} has no parameter {}: remove --{}.", demo, key, key)};
  return params.set(key, std::string_view(*value));
}

record::Status set_params(record::Params& params, std::string_view demo, const CommonOptions& options) {
  for (const std::string& assignment : options.set)
    if (auto set = params.set_assignment(assignment); !set) return set;
  for (const record::ParamSpec& spec : params.schema()) {
    const auto sets = [&](const std::string& text) { return text.starts_with(fmt::format("{}=", spec.key)); };
    if (params.overruled(spec.key) && std::any_of(options.set.begin(), options.set.end(), sets))
      return record::Error{fmt::format("{1} already decides {0}: remove {0} or {1}.", spec.key, spec.unless_key)};
  }
  if (auto set = set_flag(params, demo, "device", options.device); !set) return set;
  return set_flag(params, demo, "cap", options.cap);
}

record::Error unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return {fmt::format("There is no {} {}: `headroom list` shows all.", what, record::quoted(name))};
  return {fmt::format("There is no {} {}; the nearest is {}, and `headroom list` shows all.", what,
                      record::quoted(name), record::nearest(name, known))};
}

}  // namespace headroom::app
