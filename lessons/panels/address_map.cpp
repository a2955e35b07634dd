#include "lessons/panels/address_map.h"

#include <array>

namespace headroom::lessons {

std::string_view key_of(PieceKind kind) {
  constexpr std::array<std::string_view, 4> kKeys{"block", "free", "not_reserved", "asked_for"};
  return kKeys[static_cast<std::size_t>(kind)];
}

}  // namespace headroom::lessons
