// Values of a parameter along a slider, and how they are written. Plain: no drawing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/record/schema.h"

namespace headroom::app::page {

// The stops of a slider for a number; empty: this parameter is typed. Each to 16 and four to an octave for
// logarithmic counts, sizes as cards have them for bytes (16, 24, 32, 48, 64 GiB, …; 0 first where it means "none").
std::vector<double> stops_of(const record::ParamSpec& spec);
// The stop nearest to a value, on the slider's own scale.
int nearest_stop(const std::vector<double>& stops, double value);

// Where a value is along the slider: 0 … 1, between two stops in proportion.
double place_of(const std::vector<double>& stops, double value);

// "1,024 tokens", "24 GiB", "none", "each layer".
std::string shown_value(const record::ParamSpec& spec, const record::Params& params);
// Whether it has no value but the rule that `unset` names.
bool is_unset(const record::ParamSpec& spec, const record::Params& params);
// As `--set` takes it.
std::string typed_value(const record::ParamSpec& spec, double value);
double number_of(const record::ParamSpec& spec, const record::Params& params);

}  // namespace headroom::app::page
