// Several ranks: how the weights of a training step are cut among them.
#pragma once

#include <cstdint>

#include "demos/predict/techniques.h"
#include "demos/record/result.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Thread blocks of NCCL's kernels, at most. Each costs device memory, and takes a multiprocessor from GEMMs while it
// moves data; with fewer the data arrive later. On 4 x H200 24 gave the most tokens/s, or 0.3 % less, in each step
// tried (docs/results/ranks-h200.md). A rank has one communicator per axis, or two if the numbers differ.
struct CommunicatorBlocks {
  int gathers = 24;  // all-gather, broadcast
  int sums = 24;     // all-reduce, reduce-scatter, barrier

  bool one_communicator() const { return gathers == sums; }
};

struct ParallelSettings {
  std::int64_t ranks = 1;  // N, one process per GPU
  Zero zero = Zero::kOff;
  std::int64_t zero_group = 0;  // ranks that share one copy of the states; 0: all
  std::int64_t prefetch = 1;    // kWeights: layers gathered before they are used
  bool fp32_sums = false;       // sums 16-bit gradients in fp32
  CommunicatorBlocks blocks = {};
  record::Bytes bucket = 0;  // least size of gradients reduced together; 0: one layer's

  // Ranks that share one copy of the states; 1: every rank has its own copy.
  std::int64_t shards() const;
  std::int64_t copies() const { return ranks / shards(); }
  // True if ranks share this instead of copying it.
  bool shares(Zero what) const { return shards() > 1 && zero >= what; }
};

// Refuses a group that does not divide the ranks.
record::Status check(const ParallelSettings& parallel);

// The share of a matrix that one of S ranks holds: one of S equal slices, and the rest, which all ranks hold. Without
// padding every rank makes the same allocations, and gradients are summed where backward left them. Norms and biases
// are not cut. Slices are whole blocks of 8-bit optimizer states. 1B's down_proj, S = 4: 4,194,304 and 0 elements;
// 1,000 x 1,000, S = 3: 333,312 and 64.
struct Cut {
  std::int64_t slice = 0, rest = 0;

  std::int64_t held() const { return slice + rest; }
};
Cut cut_of(std::int64_t elements, std::int64_t shards);

}  // namespace headroom::predict
