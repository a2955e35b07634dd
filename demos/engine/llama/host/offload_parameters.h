// Weights of the layers in host memory; on the device those of the layer that computes and of the next one, and in
// backward those of a whole segment where checkpointing keeps one input for several layers. What ZeRO-Infinity does with
// one GPU: Rajbhandari et al. 2021, arXiv:2104.07857, section 5.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

// Embedding, final norm and head stay on the device: forward begins and ends with them, and so does backward.
class ParameterStream final : public LayerHooks {
 public:
  // `checkpoint_every`: k of the step's checkpointing, without which autograd would keep every layer's weights.
  ParameterStream(const Config& config, at::Device device, std::int64_t checkpoint_every, HostArena& arena);
  ~ParameterStream() override;

  // Moves a layer's weights to the host: the tensors keep their identity and point there from now on, all of a layer's
  // in one block. Layers come in order, each before the next one is made.
  void take(LayerWeights& layer);

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void after_layer(std::int64_t layer, record::Phase phase) override;

 private:
  struct Layer {
    std::vector<at::Tensor> weights;  // as the model holds them
    std::vector<std::int64_t> offsets;
    at::Tensor host, device;          // flat; device undefined while it is not there
    std::vector<at::Tensor> on_host;  // views of host
    CopyDone arrived;
  };
  void fetch(std::int64_t layer);
  void drop(std::int64_t layer);
  // The layer that is wanted after the one that computes; -1: none in this pass.
  std::int64_t next() const { return place_ + 1 < order_.size() ? order_[place_ + 1] : -1; }

  at::Device device_;
  HostArena& arena_;
  CopyLane to_device_;
  std::vector<Layer> layers_;
  std::vector<std::int64_t> order_;  // in which one pass of forward and backward wants the layers
  std::size_t place_ = 0;            // of the last layer that was wanted
};

}  // namespace headroom::llama
