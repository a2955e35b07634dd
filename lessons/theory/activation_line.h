// The closed form's activation bytes against a swept setting.
#pragma once

#include <optional>

#include "lessons/figure.h"

namespace headroom::lessons {

// predict::activation_bytes() of a training step. Empty for other demos, or if the shape comes from a checkpoint.
std::optional<record::Bytes> closed_activation_bytes(const record::Params& settings);

// True if all closed forms give both settings the same bytes.
bool same_bytes(const record::Params& a, const record::Params& b);

void set_formula(FigureHead& head, const record::Params& settings);

// Adds a line over the integers of `swept`, labeled in symbols, if the bytes are known.
void add_activation_line(Chart& chart, const record::Params& settings, const record::ParamSpec& swept);

}  // namespace headroom::lessons
