// AdamW on the CPU by PyTorch's fused kernel, on weights whose states lie in host memory.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/llama/host_arena.h"
#include "demos/llama/optimizer.h"

namespace headroom::llama {

// Flat, [n], on the CPU.
struct CpuAdamWState {
  at::Tensor master, first_moment, second_moment;  // of one type
  at::Tensor gradient;                             // of any type
  at::Tensor working;  // gets the new master, rounded; the master itself where there is none
};

// How many threads step on the CPU while another thread drives a device. That one, and the driver's own, need cores of
// theirs: all threads of a parallel loop wait for the one that had to share its core.
class StepThreads {
 public:
  // Of the threads that the calling thread's loops have. A new thread begins with what at::set_num_threads was told last,
  // wherever that was: a stepping thread that counted for itself would find what the one before it left for itself.
  StepThreads();
  // The calling thread's loops have that many from now on.
  void take() const;

 private:
  int count_;
};

class CpuAdamW {
 public:
  // `state_type`: of masters and moments. `scaled`: gradients are divided by begin_step's scale. `most_to_widen`:
  // elements of the largest step whose gradients are of another type; 0 where all are of the states' type.
  CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, bool scaled, std::int64_t most_to_widen,
           HostArena& arena);

  // What the next calls of step() are about. `t` counts from 1.
  void begin_step(std::int64_t t, double loss_scale = 1);
  // Elements [begin, begin + size), on the threads that the calling one has; the same bits on any number of them.
  // Allocates nothing.
  void step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, bool decays) const;

 private:
  void step_chunk(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, bool decays) const;

  static constexpr std::int64_t kMostThreads = 32;

  AdamWOptions options_;
  bool scaled_;
  std::int64_t most_threads_ = kMostThreads;
  at::Tensor count_;           // fp32 [], t
  at::Tensor scale_;           // fp32 []
  at::Tensor wide_gradients_;  // a chunk's of each thread, in the states' type; undefined where nothing is widened
};

}  // namespace headroom::llama
