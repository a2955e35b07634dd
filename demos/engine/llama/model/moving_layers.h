// Order and layout of layers whose weights come and go: streamed from the host, or gathered from ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace headroom::llama {

// Forward takes layers in order; backward takes segments of `every` layers from last to first, and the layers of each
// in order.
inline std::vector<std::int64_t> order_of_layers(std::int64_t layers, std::int64_t every) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < layers; ++i) order.push_back(i);
  for (std::int64_t first = (layers - 1) / every * every; first >= 0; first -= every)
    for (std::int64_t i = first; i < std::min(first + every, layers); ++i) order.push_back(i);
  return order;
}

// Elements of a weight in a flat buffer, where weights are aligned like separate tensors.
constexpr std::int64_t aligned_elements(std::int64_t elements) {
  constexpr std::int64_t kAlignment = 128;
  return (elements + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace headroom::llama
