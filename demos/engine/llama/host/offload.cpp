// Sets up a run's offloading.
#include "demos/engine/llama/host/offload.h"

#include <utility>

namespace headroom::llama {

Offload::Offload(const OffloadOptions& options, at::Device device, record::Bytes host_memory,
                 std::function<record::Bytes()> of_device)
    : options_(options), device_(device), arena_(device, host_memory) {
  arena_.shares_with(std::move(of_device));
}

std::function<void(LayerWeights&)> Offload::layer_made(const Config& config, const TrainOptions& step) {
  if (!options_.parameters) return {};
  TORCH_CHECK(options_.optimizer && step.recompute_every > 0,
              "weights on the host are updated there, and layers must be recomputed in backward");
  parameters_ = std::make_unique<ParameterStream>(config, device_, step.recompute_every, arena_);
  return [this](LayerWeights& layer) { parameters_->take(layer); };
}

void Offload::install(const Model& model, std::int64_t batch, std::int64_t seq, TrainOptions& step) {
  if (parameters_) step.hooks.push_back(parameters_.get());
  if (!options_.checkpoints) return;
  TORCH_CHECK(step.recompute_every > 0, "there are no checkpoints to move");
  const std::int64_t every = step.recompute_every;
  checkpoints_ = std::make_unique<HostCheckpoints>((model.config.num_layers + every - 1) / every,
                                                   at::IntArrayRef{batch, seq, model.config.hidden_size},
                                                   model.embed_tokens_VH.scalar_type(), device_, arena_);
  step.checkpoints = checkpoints_.get();
}

std::unique_ptr<Optimizer> Offload::make_optimizer(std::vector<Parameter> parameters, HostAdamWOptions how,
                                                   TrainOptions& step) {
  how.layers_on_host = options_.parameters;
  auto optimizer = std::make_unique<HostAdamW>(std::move(parameters), device_, std::move(how), arena_);
  step.hooks.insert(step.hooks.begin(), optimizer.get());  // first, so that gradients leave before weights
  return optimizer;
}

}  // namespace headroom::llama
