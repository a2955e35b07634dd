// Cards by the names that people and the driver give them.
#pragma once

#include <string_view>
#include <vector>

#include "demos/predict/cards.h"

namespace headroom::predict {

// Cards that these words name, in the table's order: "4090", "RTX-4090" and "NVIDIA GeForce RTX 4090 24GB" are one. Every word
// must be of the card, and the words that tell it from others must be among them: "L40" is not the L40S, nor "3090 Ti" the
// 3090. A size of memory ("A100 80GB") is compared with the card's, and "SXM" or "PCIe" with the form in its name. Several cards
// where the words leave it open: "A100" is four. An exact name is the only answer.
std::vector<const Card*> find_cards(std::string_view words);

// The cards of the table whose names are nearest to these words, best first: three at most.
std::vector<const Card*> nearest_cards(std::string_view words);

}  // namespace headroom::predict
