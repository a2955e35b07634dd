// The message for an unknown name.
#include "app/cli/suggest.h"

#include <fmt/format.h>

#include "demos/record/text.h"

namespace headroom::app {

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known) {
  if (known.empty()) return fmt::format("There is no {} {}: `headroom list` shows all.", what, record::quoted(name));
  return fmt::format("There is no {} {}; the nearest is {}, and `headroom list` shows all.", what, record::quoted(name),
                     record::nearest(name, known));
}

}  // namespace headroom::app
