// Looks figures up by id.
#include "lessons/figure.h"

namespace headroom::lessons {

const Figure* find_figure(std::string_view id) {
  for (const Figure* figure : figures()) {
    if (figure->id == id) return figure;
  }
  return nullptr;
}

}  // namespace headroom::lessons
