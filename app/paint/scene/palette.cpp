#include "app/paint/scene/palette.h"

#include <cmath>

namespace headroom::app::paint {

Color blended(Color over, Color ground) { return mixed(ground, over, static_cast<float>(over.a) / 255.0f); }

double luminance(Color color) {
  const auto linear = [](std::uint8_t channel) {
    const double v = channel / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

double contrast(Color a, Color b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace headroom::app::paint
