// Numbers that differ by rank, and what each collective must make of them. Sums over 8 ranks are exact in bf16.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/ranks/collectives.h"

namespace headroom::tests {

inline at::Tensor numbers(int rank, std::int64_t size, at::TensorOptions options) {
  return (at::arange(size, options.dtype(at::kLong)).remainder(7) + rank + 1).to(options.dtype());
}

inline at::Tensor sum_of_numbers(int ranks, std::int64_t size, at::TensorOptions options) {
  at::Tensor sum = at::zeros({size}, options);
  for (int rank = 0; rank < ranks; ++rank) sum += numbers(rank, size, options);
  return sum;
}

// A whole tensor of `size` numbers per rank with its slice, in place or separate.
inline llama::Sliced sliced(const at::Tensor& whole, int rank, int ranks, bool in_place) {
  const std::int64_t size = whole.numel() / ranks;
  const at::Tensor place = whole.narrow(0, rank * size, size);
  return {.whole = whole, .slice = in_place ? place : at::zeros_like(place)};
}

// True if every collective gave exact values, for groups of three tensors of different sizes.
inline bool values_are_right(llama::Collectives& collectives, at::TensorOptions options, bool in_place) {
  const int rank = collectives.rank(), ranks = collectives.ranks();
  const std::vector<std::int64_t> sizes{1, 17, 1000};
  std::vector<at::Tensor> summed, sent;
  std::vector<llama::Sliced> scattered, gathered;
  for (const std::int64_t size : sizes) {
    summed.push_back(numbers(rank, size, options));
    sent.push_back(numbers(rank, size, options));
    scattered.push_back(sliced(numbers(rank, ranks * size, options), rank, ranks, in_place));
    gathered.push_back(sliced(at::zeros({ranks * size}, options), rank, ranks, in_place));
    gathered.back().slice.copy_(numbers(rank, size, options));
  }
  collectives.wait_for_device();
  collectives.all_reduce(summed);
  collectives.reduce_scatter(scattered);
  collectives.all_gather(gathered);
  collectives.broadcast(sent, ranks - 1);
  const at::Tensor around = numbers(rank, 100, options), arrived = at::zeros({100}, options);
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  if (ranks > 1) collectives.exchange({.send = around, .to = next, .receive = arrived, .from = previous});
  collectives.done().device_waits();
  bool right = ranks == 1 || at::equal(arrived, numbers(previous, 100, options));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    right &= at::equal(summed[i], sum_of_numbers(ranks, size, options));
    right &= at::equal(sent[i], numbers(ranks - 1, size, options));
    right &= at::equal(scattered[i].slice, sum_of_numbers(ranks, ranks * size, options).narrow(0, rank * size, size));
    for (int other = 0; other < ranks; ++other)
      right &= at::equal(gathered[i].whole.narrow(0, other * size, size), numbers(other, size, options));
  }
  return right;
}

}  // namespace headroom::tests
