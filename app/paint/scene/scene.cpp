#include "app/paint/scene/scene.h"

#include <array>

namespace headroom::app::paint {

std::string_view name_of(Layer layer) {
  static constexpr std::array<std::string_view, 12> kNames{"ground", "stack", "lines",  "hidden", "marks",  "labels",
                                                           "axes",   "bands", "header", "list",   "levels", "bars"};
  return kNames.at(static_cast<std::size_t>(layer));
}

}  // namespace headroom::app::paint
