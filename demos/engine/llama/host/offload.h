// Offloading to the host: weights, optimizer state, checkpoints.
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

// Owns the objects that move data. Must outlive model, optimizer and steps.
class Offload {
 public:
  // `host_memory`: available bytes; 0 if unknown. `of_device` returns the bytes that the device, if it is the CPU, has
  // taken since `host_memory` was measured; may be empty.
  Offload(const OffloadOptions& options, at::Device device, record::Bytes host_memory,
          std::function<record::Bytes()> of_device = {});

  // Call before the model is built. Returns a function for ModelSource::layer_made, which may be empty.
  std::function<void(LayerWeights&)> layer_made(const Config& config, const TrainOptions& step);
  // Call after the model is built. Adds hooks to the step. `batch`: samples per micro-batch.
  void install(const Model& model, std::int64_t batch, std::int64_t seq, TrainOptions& step);
  // Creates an optimizer that steps on the host, and adds hooks to the step. Call only with OffloadOptions::optimizer.
  std::unique_ptr<Optimizer> make_optimizer(std::vector<Parameter> parameters, HostAdamWOptions how,
                                            TrainOptions& step);

  HostArena& arena() { return arena_; }
  // Why pages are not locked, in one sentence; empty if all are.
  const std::string& trouble() const { return arena_.trouble(); }

 private:
  OffloadOptions options_;
  at::Device device_;
  HostArena arena_;
  std::unique_ptr<ParameterStream> parameters_;
  std::unique_ptr<HostCheckpoints> checkpoints_;
};

}  // namespace headroom::llama
