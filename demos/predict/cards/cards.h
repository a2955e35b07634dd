// Cards to plan for, from assets/cards.csv.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "demos/record/units.h"

namespace headroom::predict {

// A number is missing if it is unknown or belongs to a format that the card lacks. The first card is this machine; its
// device supplies the values.
struct Card {
  std::string name;         // "GeForce RTX 4090"
  std::string driver_name;  // "NVIDIA GeForce RTX 4090"
  std::optional<record::Bytes> memory;
  std::optional<double> compute_capability;           // 8.9
  std::optional<double> bandwidth;                    // memory bandwidth, bytes per second
  std::optional<double> fp32, tf32, bf16, fp16, fp8;  // dense peak, FLOP per second
  std::string source;
};

std::span<const Card> cards();
// A card of which only the memory is known, named by its size. Stays valid; equal sizes give the same card.
const Card& card_of_size(record::Bytes memory);

}  // namespace headroom::predict
