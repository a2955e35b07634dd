// Keeps the layers' weights in host memory. The device holds the weights of the current and the next layer, and in the
// backward pass those of a whole segment if only the segment's input is kept. ZeRO-Infinity with one GPU: Rajbhandari et
// al. 2021, arXiv:2104.07857, section 5.1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

// Embedding, final norm and head stay on the device, because forward and backward begin and end with them.
class ParameterStream final : public LayerHooks {
 public:
  // `recompute_every`: layers per kept input. Without checkpointing autograd would keep every layer's weights.
  ParameterStream(const Config& config, at::Device device, std::int64_t recompute_every, HostArena& arena);
  ~ParameterStream() override;

  // Moves a layer's weights into one block on the host, to which the model's tensors then point. Call in layer order,
  // before the next layer is made.
  void take(LayerWeights& layer);

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void after_layer(std::int64_t layer, record::Phase phase) override;

 private:
  struct Layer {
    std::vector<at::Tensor> weights;  // the model's tensors
    std::vector<std::int64_t> offsets;
    at::Tensor host, device;  // flat; `device` is undefined while not loaded
    std::vector<at::Tensor> on_host;
    CopyDone arrived;
  };
  void fetch(std::int64_t layer);
  void drop(std::int64_t layer);
  // The layer after the current one; -1 if none follows in this pass.
  std::int64_t next() const { return place_ + 1 < order_.size() ? order_[place_ + 1] : -1; }

  at::Device device_;
  HostArena& arena_;
  CopyLane to_device_;
  std::vector<Layer> layers_;
  std::vector<std::int64_t> order_;  // of one forward and backward pass
  std::size_t place_ = 0;
};

}  // namespace headroom::llama
