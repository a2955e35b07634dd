// AdamW on the CPU by PyTorch's fused kernel, for states in host memory.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/optimizers/step_threads.h"

namespace headroom::llama {

// Flat tensors [n] on the CPU.
struct CpuAdamWState {
  at::Tensor master, first_moment, second_moment;  // same type
  at::Tensor gradient;                             // any type
  at::Tensor working;                              // receives the rounded master; same as `master` if there is no copy
};

// `t`: the weight's step, from 1. Gradients contain the factor `loss_scale`.
struct CpuAdamWStep {
  std::int64_t t = 1;
  double loss_scale = 1;
  bool decays = true;
};

class CpuAdamW {
 public:
  // `state_type`: type of masters and moments. `most_to_widen`: elements of the largest weight whose gradients have
  // another type; 0: none.
  CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, std::int64_t most_to_widen, HostArena& arena);

  // Steps elements [begin, begin + size) on the threads, with the same bits for any number of threads. Returns at once;
  // calls `then` after the last element. Makes no counted allocation. This object must outlive the work.
  void step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
            StepThreads& threads, std::function<void()> then = {}) const;
  // Call while nothing is being stepped.
  void set_learning_rate(double rate) { options_.learning_rate = rate; }

 private:
  void step_chunk(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
                  std::size_t thread) const;

  AdamWOptions options_;
  std::int64_t chunk_;         // elements
  at::Tensor wide_gradients_;  // a chunk per thread, in the states' type; undefined if not needed
};

}  // namespace headroom::llama
