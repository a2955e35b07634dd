// Fetches layers one layer ahead, and frees them.
#include "demos/engine/llama/host/offload_parameters.h"

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/moving_layers.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;
using record::Tag;

Tag tag(Phase phase, std::size_t layer) {
  return {.phase = phase,
          .category = Category::kWeights,
          .layer = static_cast<std::uint16_t>(layer),
          .op = number_of(Op::kLayerWeights)};
}

at::Tensor part(const at::Tensor& flat, std::int64_t offset, const at::Tensor& like) {
  return flat.narrow(0, offset, like.numel()).view(like.sizes());
}

}  // namespace

ParameterStream::ParameterStream(const Config& config, at::Device device, std::int64_t recompute_every,
                                 HostArena& arena)
    : device_(device), arena_(arena), to_device_(device), order_(order_of_layers(config.num_layers, recompute_every)) {}

ParameterStream::~ParameterStream() { to_device_.finish(); }

void ParameterStream::take(LayerWeights& weights) {
  const at::AutoGradMode grad_mode(false);
  Layer layer;
  std::int64_t size = 0;
  for (const LayerMember& member : layer_members()) {
    const at::Tensor& weight = weights.*member.tensor;
    if (!weight.defined()) continue;
    layer.weights.push_back(weight);
    layer.offsets.push_back(size);
    size += aligned_elements(weight.numel());
  }
  const Scope scope(tag(Phase::kSetup, layers_.size()));
  layer.host = arena_.empty({size}, layer.weights.front().scalar_type(), HostPages::kLocked);
  for (std::size_t i = 0; i < layer.weights.size(); ++i) {
    at::Tensor& weight = layer.weights[i];
    layer.on_host.push_back(part(layer.host, layer.offsets[i], weight));
    if (!weight.is_meta()) layer.on_host[i].copy_(weight.detach());
    weight.set_data(layer.on_host[i]);
  }
  layers_.push_back(std::move(layer));
}

void ParameterStream::fetch(std::int64_t number) {
  Layer& layer = layers_[static_cast<std::size_t>(number)];
  if (layer.device.defined()) return;
  const at::AutoGradMode grad_mode(false);
  {
    const Scope scope(tag(Phase::kCopies, static_cast<std::size_t>(number)));
    layer.device = at::empty(layer.host.sizes(), layer.host.options().device(device_));
  }
  to_device_.wait_for_device();  // earlier work may still read this memory
  to_device_.copy(layer.device, layer.host);
  layer.arrived = to_device_.done();
}

void ParameterStream::drop(std::int64_t number) {
  Layer& layer = layers_[static_cast<std::size_t>(number)];
  for (std::size_t i = 0; i < layer.weights.size(); ++i) layer.weights[i].set_data(layer.on_host[i]);
  layer.device = at::Tensor();
}

void ParameterStream::before_layer(std::int64_t number, Phase phase) {
  const std::size_t half = order_.size() / 2;
  const bool forward = phase == Phase::kForward || phase == Phase::kEvaluation;
  if (forward && number == 0)
    place_ = 0;
  else
    ++place_;
  TORCH_INTERNAL_ASSERT(place_ < order_.size() && order_[place_] == number && (place_ < half) == forward,
                        "the layers came in another order");
  fetch(number);
  Layer& layer = layers_[static_cast<std::size_t>(number)];
  layer.arrived.device_waits();
  for (std::size_t i = 0; i < layer.weights.size(); ++i)
    layer.weights[i].set_data(part(layer.device, layer.offsets[i], layer.weights[i]));
  const bool ends = phase == Phase::kEvaluation && place_ + 1 == half;  // no backward follows
  if (next() >= 0 && !ends) fetch(next());
}

void ParameterStream::after_layer(std::int64_t layer, Phase phase) {
  const bool done =
      phase == Phase::kBackward || phase == Phase::kEvaluation || (phase == Phase::kForward && next() != layer);
  if (done) drop(layer);
}

}  // namespace headroom::llama
