// Gradient checkpointing of a chain: which nodes are in memory, frame by frame (Chen et al. 2016, arXiv:1604.06174;
// drawn as in github.com/cybertronai/gradient-checkpointing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::lessons {

enum class NodeState : std::uint8_t { kNotYet, kAlive, kRecomputed, kFreed };

// Forward node i is activation i, node 0 the input. Backward node i is the gradient of activation i − 1: node n is the
// loss's gradient, node 1 the input's.
struct ScheduleFrame {
  std::vector<NodeState> forward;   // 0 … n − 1
  std::vector<NodeState> backward;  // 1 … n, at index i − 1
  std::string action;
  std::size_t alive = 0;        // nodes in memory
  std::size_t evaluations = 0;  // evaluations of forward nodes so far
};

// A chain of n forward nodes that keeps the input and the nodes in `kept`. Five nodes with f2 kept: 18 frames, at most
// 5 nodes in memory (7 if all are kept), 6 forward evaluations (4 if all are kept).
std::vector<ScheduleFrame> checkpoint_frames(std::size_t n, const std::vector<bool>& kept);

std::size_t most_alive(const std::vector<ScheduleFrame>& frames);

}  // namespace headroom::lessons
