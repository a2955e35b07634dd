// ZeRO-3: each rank stores its share of every matrix, and gathers a layer's matrices while they are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/offload_copies.h"
#include "demos/engine/llama/ranks/collectives.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/predict/parallel.h"

namespace headroom::llama {

// A rank's share of a matrix, 1-D.
struct Share {
  at::Tensor slice, rest;  // undefined if empty
};

// The model's weights keep their shapes and are views of one buffer per layer, whose memory exists only while the
// layer is gathered. Autograd may keep the weights for backward, because gathering fills the same storage again.
class GatheredWeights final : public LayerHooks {
 public:
  GatheredWeights(const Config& config, const predict::ParallelSettings& parallel, std::int64_t recompute_every,
                  Collectives& shards);

  // Keeps this rank's share of a layer's matrices and frees them. Call in layer order, before the next layer is made.
  void take(LayerWeights& layer);
  // The same for the embedding and the head. Call after the model is made.
  void take_outer(const Model& model);
  // Null if the weight is not cut.
  const Share* share_of(const at::Tensor& weight) const;

  void before_layer(std::int64_t layer, record::Phase phase) override;
  void after_layer(std::int64_t layer, record::Phase phase) override;
  void before_outer(OuterPart part, record::Phase phase) override;
  void after_outer(OuterPart part, record::Phase phase) override;

 private:
  struct Part {
    at::Tensor weight;
    Share share;
    at::Tensor sliced, rest;  // of the buffer
  };
  struct Group {
    std::vector<Part> parts;
    at::Tensor buffer;  // flat
    std::size_t bytes = 0;
    std::uint16_t layer = record::kNoLayer;
    bool there = false;
    CopyDone arrived;
  };

  void cut(Group& group, std::vector<at::Tensor> matrices);
  void gather(std::size_t place);
  void enter(std::size_t place, record::Phase phase);
  static void free(Group& group);
  Group& layer(std::int64_t i) { return groups_[static_cast<std::size_t>(i)]; }
  Group& outer(OuterPart part);

  Collectives& shards_;
  std::size_t ahead_;  // groups gathered before they are used
  bool tied_;
  std::vector<Group> groups_;  // layers, embedding, head
  std::vector<Group*> order_;  // of one forward and backward pass
  std::size_t head_place_ = 0, place_ = 0;
  std::uint16_t taken_ = 0;  // layers
};

}  // namespace headroom::llama
