// Decodes a choice among the parameters of a demo or figure.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "demos/predict/techniques.h"
#include "demos/record/schema.h"

namespace headroom::predict {

// The meaning of the parameter's value. The schema has checked the value, so an unknown one is a bug.
template <class Enum, std::size_t N>
Enum meaning(const record::Params& params, std::string_view key, const std::array<Meant<Enum>, N>& values) {
  const std::string& value = params.text(key);
  for (const Meant<Enum>& each : values)
    if (each.choice.key == value) return each.meaning;
  throw std::logic_error(std::string(key) + "=" + value + " has no effect here");
}

}  // namespace headroom::predict
