// AdamW on the CPU by PyTorch's fused kernel, on weights whose states are in host memory.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/optimizers/step_threads.h"

namespace headroom::llama {

// Flat, [n], on the CPU.
struct CpuAdamWState {
  at::Tensor master, first_moment, second_moment;  // of one type
  at::Tensor gradient;                             // of any type
  at::Tensor working;  // gets the new master, rounded; the master itself where there is none
};

// Of a weight that steps for the `t`th time, counted from 1; its gradients come multiplied by `loss_scale`.
struct CpuAdamWStep {
  std::int64_t t = 1;
  double loss_scale = 1;
  bool decays = true;
};

class CpuAdamW {
 public:
  // `state_type`: of masters and moments. `most_to_widen`: elements of the largest weight whose gradients are of another
  // type; 0 where all are of the states' type.
  CpuAdamW(const AdamWOptions& options, at::ScalarType state_type, std::int64_t most_to_widen, HostArena& arena);

  // Elements [begin, begin + size), shared among the threads; the same bits on any number of them. Returns at once, with
  // `then` to be called behind the last element. Allocates nothing that counts. Must outlive the work.
  void step(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
            StepThreads& threads, std::function<void()> then = {}) const;
  // While nothing is stepped.
  void set_learning_rate(double rate) { options_.learning_rate = rate; }

 private:
  void step_chunk(const CpuAdamWState& state, std::int64_t begin, std::int64_t size, const CpuAdamWStep& how,
                  std::size_t thread) const;

  AdamWOptions options_;
  std::int64_t chunk_;         // elements
  at::Tensor wide_gradients_;  // a chunk's of each thread, in the states' type; undefined where nothing is widened
};

}  // namespace headroom::llama
