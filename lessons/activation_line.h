// What activations take over a number that a sweep goes over, by closed form.
#pragma once

#include <optional>

#include "lessons/figure.h"

namespace headroom::lessons {

// predict::activation_bytes() of a training step's settings; nothing: of a checkpoint's shape, or of another demo.
std::optional<record::Bytes> closed_activation_bytes(const record::Params& settings);

// Whether both settings give the same bytes by all closed forms.
bool same_bytes(const record::Params& a, const record::Params& b);

// Adds it to a chart over the whole numbers of `swept`, with its symbols as label. Adds nothing where it is not known.
void add_activation_line(Chart& chart, const record::Params& settings, const record::ParamSpec& swept);

}  // namespace headroom::lessons
