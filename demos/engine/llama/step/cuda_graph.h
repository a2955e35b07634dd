// A training step as one CUDA graph: captured once, then replayed with a single launch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/ATen.h>

#include "demos/predict/techniques.h"
#include "demos/record/units.h"

namespace headroom::llama {

// The first kWarmUp steps run normally on the graph's stream, so that libraries create handles and choose algorithms.
// The next step is captured, and then replayed like all later steps. Its allocations stay in the graph's pool. On meta
// the first kWarmUp + 1 steps run, and later ones are no-ops.
//
// A step must run entirely on the device: it reads nothing back, and values that change (tokens, the optimizer's count)
// are in existing tensors.
class StepGraph {
 public:
  static constexpr int kWarmUp = predict::kGraphWarmUpSteps;

  explicit StepGraph(at::Device device);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // Runs `work` on the graph's stream, after the caller's earlier work and before its later work.
  void on_stream(const std::function<void()>& work);
  // Copies the values to the device tensor that every step reads; `upload` creates it.
  at::Tensor load(const at::Tensor& host, const std::function<at::Tensor()>& upload);
  // Returns the step's loss, which the next replay overwrites. Throws c10::Error with a sentence if capture fails, and
  // what the step throws when cancelled or out of memory.
  at::Tensor run(const std::function<at::Tensor()>& step);

  bool recorded() const { return steps_ > kWarmUp; }  // true if run() only replays
  record::Bytes pool_bytes() const;                   // reserved by the graph's pool; 0 on meta

 private:
  struct OnCuda;
  std::unique_ptr<OnCuda> cuda_;  // null on meta
  int steps_ = 0;
  at::Tensor input_, loss_;
};

}  // namespace headroom::llama
