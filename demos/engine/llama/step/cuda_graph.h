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
// The next one is captured; it and later ones are replayed. Its allocations stay in the graph's pool. On meta the first
// kWarmUp + 1 steps run, later ones are no-ops.
//
// A step must run entirely on the device: it reads nothing back, and what changes (tokens, the optimizer's count) is in
// existing tensors.
class StepGraph {
 public:
  static constexpr int kWarmUp = predict::kGraphWarmUpSteps;

  explicit StepGraph(at::Device device);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // Runs `work` on the graph's stream, between the caller's earlier and later work.
  void on_stream(const std::function<void()>& work);
  // Copies the values to where every step reads them on the device.
  at::Tensor load(const at::Tensor& host, const std::function<at::Tensor()>& upload);
  // The step's loss, which the next replay overwrites. Throws c10::Error with a sentence if capture fails, and what the
  // step throws when cancelled or out of memory.
  at::Tensor run(const std::function<at::Tensor()>& step);

  bool recorded() const { return steps_ > kWarmUp; }  // run() only replays
  record::Bytes pool_bytes() const;                   // reserved by the graph's pool; 0 on meta

 private:
  struct OnCuda;
  std::unique_ptr<OnCuda> cuda_;  // null on meta
  int steps_ = 0;
  at::Tensor input_, loss_;
};

}  // namespace headroom::llama
