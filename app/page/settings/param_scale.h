// A parameter's values on a slider, and their text. No drawing.
#pragma once

#include <string>
#include <vector>

#include "demos/record/schema.h"

namespace headroom::app::page {

// Slider stops. Empty: the parameter is typed. Logarithmic counts have every number up to 16, then four per octave.
// Bytes have the sizes of cards (16, 24, 32, 48, 64 GiB, …), preceded by 0 if 0 means "none".
std::vector<double> stops_of(const record::ParamSpec& spec);
// Index of the stop nearest to `value` on a log scale.
int nearest_stop(const std::vector<double>& stops, double value);

// From 0 to 1, interpolated between stops.
double place_of(const std::vector<double>& stops, double value);

// "1,024 tokens", "24 GiB", "none", "each layer".
std::string shown_value(const record::ParamSpec& spec, const record::Params& params);
// Like shown_value(), with the label where the value alone is unclear: "batch 4".
std::string value_in_words(const record::ParamSpec& spec, const record::Params& params);
// True if the value is the one that `unset` names.
bool is_unset(const record::ParamSpec& spec, const record::Params& params);
// The value as text for `--set`.
std::string typed_value(const record::ParamSpec& spec, double value);
double number_of(const record::ParamSpec& spec, const record::Params& params);

}  // namespace headroom::app::page
