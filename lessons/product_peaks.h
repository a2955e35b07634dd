// What a device's matrix products reach, by a run of `product_rates`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "demos/predict/cards.h"
#include "demos/record/recording.h"

namespace headroom::lessons {

bool has_product_rates(const record::Recording& recording);

// The fastest size of each format, in the order in which they were measured. Empty: none was.
std::vector<const record::Measurement*> fastest_products(const record::Recording& rates);

// Operations per second.
double product_rate(const record::Measurement& row);

// Where a card keeps the peak of a format ("bf16"); null: cards have no such number.
using CardPeak = std::optional<double> predict::Card::*;
CardPeak card_peak(std::string_view format);

// The card of the recording's GPU; null: the table has none.
const predict::Card* card_of(const record::Recording& recording);
// The same with measured peaks where there are some.
std::optional<predict::Card> measured_card(const record::Recording& rates);

}  // namespace headroom::lessons
