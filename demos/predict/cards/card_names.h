// Finds cards by the names that people and drivers use.
#pragma once

#include <string_view>
#include <vector>

#include "demos/predict/cards/cards.h"

namespace headroom::predict {

// Cards that match these words, in table order: "4090", "RTX-4090" and "NVIDIA GeForce RTX 4090 24GB" find the same
// card. Every word must belong to the card, and its distinguishing words are required: "L40" is not the L40S. Memory
// sizes ("A100 80GB"), "SXM" and "PCIe" are compared, too. Ambiguous words match several cards ("A100": four), an exact
// name only one.
std::vector<const Card*> find_cards(std::string_view words);

// Up to three cards with the most similar names, best first.
std::vector<const Card*> nearest_cards(std::string_view words);

}  // namespace headroom::predict
