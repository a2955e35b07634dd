// A figure in words, as alternative text.
#pragma once

#include <string>

#include "lessons/figure.h"

namespace headroom::app::paint {

std::string description_of(const lessons::FigureData& figure);

}  // namespace headroom::app::paint
