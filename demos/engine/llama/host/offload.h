// What a run keeps on the host: weights, optimizer state, checkpoints, each by itself.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "demos/engine/llama/host/host_arena.h"
#include "demos/engine/llama/host/offload_checkpoints.h"
#include "demos/engine/llama/host/offload_optimizer.h"
#include "demos/engine/llama/host/offload_parameters.h"
#include "demos/engine/llama/step/train_step.h"

namespace headroom::llama {

struct OffloadOptions {
  bool parameters = false;  // needs `optimizer`, and checkpointing by layers
  bool optimizer = false;
  bool checkpoints = false;  // needs checkpointing by layers

  bool any() const { return parameters || optimizer || checkpoints; }
};

// Owns what moves things around. Outlives model, optimizer and steps.
class Offload {
 public:
  // `host_memory`: bytes that the host can give, 0 not known; `of_device`: those of them that the device has taken since
  // then, where that is the CPU. May be empty.
  Offload(const OffloadOptions& options, at::Device device, record::Bytes host_memory,
          std::function<record::Bytes()> of_device = {});

  // Before the model is built: what make_model calls for every layer (ModelSource::layer_made), or nothing.
  std::function<void(LayerWeights&)> layer_made(const Config& config, const TrainOptions& step);
  // Once the model is there: installs itself in the step. `batch`: samples of a micro-batch.
  void install(const Model& model, std::int64_t batch, std::int64_t seq, TrainOptions& step);
  // The optimizer that steps on the host, installed in the step too. Only with OffloadOptions::optimizer.
  std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters, HostAdamWOptions how,
                                            TrainOptions& step);

  // What the reader should know about how things are kept; empty: nothing. One sentence.
  const std::string& trouble() const { return arena_.trouble(); }

 private:
  OffloadOptions options_;
  at::Device device_;
  HostArena arena_;
  std::unique_ptr<ParameterStream> parameters_;
  std::unique_ptr<HostCheckpoints> checkpoints_;
};

}  // namespace headroom::llama
