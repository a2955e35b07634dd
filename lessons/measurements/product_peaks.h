// GEMM rates of a device, from a run of `product_rates`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "demos/predict/cards/cards.h"
#include "demos/record/recording.h"

namespace headroom::lessons {

bool has_product_rates(const record::Recording& recording);

// The fastest measurement per format, in order of measurement.
std::vector<const record::Measurement*> fastest_products(const record::Recording& rates);

// Operations per second.
double product_rate(const record::Measurement& row);

// The member of a card that holds the peak of a format ("bf16"); null if there is none.
using CardPeak = std::optional<double> predict::Card::*;
CardPeak card_peak(std::string_view format);

// The recording's GPU; null if not in the table.
const predict::Card* card_of(const record::Recording& recording);
// card_of() with peaks replaced by measured ones, where available.
std::optional<predict::Card> measured_card(const record::Recording& rates);

}  // namespace headroom::lessons
