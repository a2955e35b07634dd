// Cards to plan for, from assets/cards.csv.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "demos/record/units.h"

namespace headroom::predict {

// An empty number is not known: for this machine (the first card) until a device was asked; or the card lacks the format, or no
// source says it.
struct Card {
  std::string name;         // "GeForce RTX 4090"
  std::string driver_name;  // "NVIDIA GeForce RTX 4090"
  std::optional<record::Bytes> memory;
  std::optional<double> compute_capability;           // 8.9
  std::optional<double> bandwidth;                    // of the device's memory, bytes per second
  std::optional<double> fp32, tf32, bf16, fp16, fp8;  // peak of dense products, FLOP per second
  std::string source;                                 // of these numbers
};

// In the file's order; the first one is this machine.
std::span<const Card> cards();

}  // namespace headroom::predict
