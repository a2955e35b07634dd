#include "lessons/theory/schedule.h"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::lessons {
namespace {

bool in_memory(NodeState state) { return state == NodeState::kAlive || state == NodeState::kRecomputed; }

class CheckpointChain {
 public:
  CheckpointChain(std::size_t n, const std::vector<bool>& kept) : n_(n), kept_(kept) {
    now_.forward.assign(n, NodeState::kNotYet);
    now_.backward.assign(n, NodeState::kNotYet);
  }

  std::vector<ScheduleFrame> run() {
    now_.forward[0] = NodeState::kAlive;
    show("f0 is the input");
    for (std::size_t i = 1; i < n_; ++i) {
      evaluate(i, NodeState::kAlive, fmt::format("f{} is computed from f{}", i, i - 1));
      if (i > 1 && !kept_[i - 1]) free_forward(i - 1, fmt::format("f{} is freed", i - 1));
    }
    gradient(n_) = NodeState::kAlive;
    show(fmt::format("b{}, the gradient of the loss, appears", n_));
    for (std::size_t i = n_ - 1; i > 0; --i) backward(i);
    return std::move(frames_);
  }

 private:
  NodeState& gradient(std::size_t i) { return now_.backward[i - 1]; }

  void show(std::string action) {
    now_.action = std::move(action);
    now_.alive = static_cast<std::size_t>(std::ranges::count_if(now_.forward, in_memory) +
                                          std::ranges::count_if(now_.backward, in_memory));
    frames_.push_back(now_);
  }

  void evaluate(std::size_t i, NodeState state, std::string action) {
    now_.forward[i] = state;
    ++now_.evaluations;
    show(std::move(action));
  }

  void free_forward(std::size_t i, std::string action) {
    now_.forward[i] = NodeState::kFreed;
    show(std::move(action));
  }

  // Backward node i needs f_i. If f_i was freed, its segment is recomputed from the checkpoint below up to f_i; each
  // recomputed node stays until used.
  void backward(std::size_t i) {
    std::size_t from = i;
    while (!in_memory(now_.forward[from])) --from;
    for (std::size_t j = from + 1; j <= i; ++j)
      evaluate(j, NodeState::kRecomputed, fmt::format("f{} is recomputed from f{}", j, j - 1));
    gradient(i) = NodeState::kAlive;
    show(fmt::format("b{} is computed from f{} and b{}", i, i, i + 1));
    now_.forward[i] = NodeState::kFreed;
    gradient(i + 1) = NodeState::kFreed;
    if (i > 1) return show(fmt::format("f{} and b{} are freed", i, i + 1));
    now_.forward[0] = NodeState::kFreed;
    show("everything but the input's gradient is freed");
  }

  std::size_t n_;
  const std::vector<bool>& kept_;
  ScheduleFrame now_;
  std::vector<ScheduleFrame> frames_;
};

}  // namespace

std::vector<ScheduleFrame> checkpoint_frames(std::size_t n, const std::vector<bool>& kept) {
  return CheckpointChain(n, kept).run();
}

std::size_t most_alive(const std::vector<ScheduleFrame>& frames) {
  std::size_t most = 0;
  for (const ScheduleFrame& frame : frames) most = std::max(most, frame.alive);
  return most;
}

}  // namespace headroom::lessons
