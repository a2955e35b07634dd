// A whole training step as one CUDA graph: recorded once, then replayed with a single launch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/ATen.h>

#include "demos/predict/techniques.h"
#include "demos/record/units.h"

namespace headroom::llama {

// The first kWarmUp steps run as they are, on the graph's own stream, so that libraries make their handles and choose
// their algorithms; the next one is recorded and replayed, and all later ones are replayed. What a step allocates is in
// a pool that belongs to the graph from then on. On meta the first kWarmUp + 1 steps run, later ones do nothing.
//
// A step must do everything on the device: no value is read back, what changes from step to step (tokens, the optimizer's
// count) is in tensors that were there before.
class StepGraph {
 public:
  static constexpr int kWarmUp = predict::kGraphWarmUpSteps;

  explicit StepGraph(at::Device device);
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // Runs `work` on the graph's stream, behind what the caller's stream has, and before what comes to it.
  void on_stream(const std::function<void()>& work);
  // These values in the place on the device where every step reads them.
  at::Tensor load(const at::Tensor& host, const std::function<at::Tensor()>& upload);
  // The step's loss, which the next replay overwrites. Throws c10::Error with a sentence where the step cannot be
  // recorded, and what the step itself throws when it is cancelled or out of memory.
  at::Tensor run(const std::function<at::Tensor()>& step);

  bool recorded() const { return steps_ > kWarmUp; }  // from here on run() only replays
  record::Bytes pool_bytes() const;                   // that the graph's pool has reserved; 0 on meta

 private:
  struct OnCuda;
  std::unique_ptr<OnCuda> cuda_;  // null on meta
  int steps_ = 0;
  at::Tensor input_, loss_;
};

}  // namespace headroom::llama
