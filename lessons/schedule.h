// Gradient checkpointing as a schedule: which nodes of a chain are in memory, frame by frame (Chen et al. 2016,
// arXiv:1604.06174; drawn as in github.com/cybertronai/gradient-checkpointing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom::lessons {

enum class NodeState : std::uint8_t { kNotYet, kAlive, kRecomputed, kFreed };

// One moment. Forward node i is activation i, node 0 the input; backward node i is the gradient of activation i − 1, so
// that node n is the loss's gradient and node 1 the input's.
struct ScheduleFrame {
  std::vector<NodeState> forward;   // 0 … n − 1
  std::vector<NodeState> backward;  // 1 … n, at index i − 1
  std::string action;               // "f3 is computed again from f2"
  std::size_t alive = 0;            // nodes in memory
  std::size_t evaluations = 0;      // of forward nodes so far
};

// A chain of n forward nodes of which these are kept; the input always is. The worked example: five nodes, f2 kept, has 18
// frames; most in memory are 5 nodes (7 if all are kept), with 6 forward evaluations (4 if all are kept).
std::vector<ScheduleFrame> checkpoint_frames(std::size_t n, const std::vector<bool>& kept);

std::size_t most_alive(const std::vector<ScheduleFrame>& frames);

}  // namespace headroom::lessons
