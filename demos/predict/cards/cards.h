// Cards to plan for, from assets/cards.csv.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "demos/record/units.h"

namespace headroom::predict {

// A missing number is unknown, or the card lacks the format. The first card is this machine, filled in by its device.
struct Card {
  std::string name;         // "GeForce RTX 4090"
  std::string driver_name;  // "NVIDIA GeForce RTX 4090"
  std::optional<record::Bytes> memory;
  std::optional<double> compute_capability;           // 8.9
  std::optional<double> bandwidth;                    // of its memory, bytes per second
  std::optional<double> fp32, tf32, bf16, fp16, fp8;  // dense peak, FLOP per second
  std::string source;
};

// In the file's order.
std::span<const Card> cards();

}  // namespace headroom::predict
