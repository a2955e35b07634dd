// Creates adapters.
#include "demos/engine/llama/model/adapters.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <c10/util/Exception.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/model.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

constexpr std::uint64_t kSeedStep = 0x9e3779b97f4a7c15u;  // adapters and weights have different seeds

Op op_of(ProjectionKind kind) {
  constexpr std::array<Op, kProjectionKinds> kOps{Op::kQProj,    Op::kKProj,  Op::kVProj,   Op::kOProj,
                                                  Op::kGateProj, Op::kUpProj, Op::kDownProj};
  return kOps[static_cast<std::size_t>(kind)];
}

at::Tensor& weight_of(LayerWeights& layer, ProjectionKind kind) {
  return layer.*member_of(op_of(kind), WeightKind::kMatrix);
}

LayerWeight shape_of(const Config& config, ProjectionKind kind) {
  const std::vector<LayerWeight> all = layer_weights(config);
  return *std::ranges::find_if(
      all, [&](const LayerWeight& weight) { return weight.op == op_of(kind) && weight.kind == WeightKind::kMatrix; });
}

record::Tag weight_tag(std::int64_t layer, ProjectionKind kind) {
  return {.phase = record::Phase::kSetup,
          .category = Category::kWeights,
          .layer = static_cast<std::uint16_t>(layer),
          .op = number_of(op_of(kind))};
}

// Like PEFT's LoraLayer.reset_lora_parameters.
void draw(const at::Tensor& a_RI, predict::AdapterStart start) {
  if (start == predict::AdapterStart::kGaussian) {
    a_RI.normal_(0, 1 / static_cast<double>(a_RI.size(0)));
    return;
  }
  const double most = 1 / std::sqrt(static_cast<double>(a_RI.size(1)));
  a_RI.uniform_(-most, most);
}

Adapter make_adapter(const Model& model, std::int64_t layer, ProjectionKind kind) {
  const LayerWeight weight = shape_of(model.config, kind);
  const std::int64_t rank = model.adapter_options.rank;
  at::TensorOptions options = model.embed_tokens_VH.options();
  if (model.adapter_options.fp32) options = options.dtype(at::kFloat);
  const Scope scope(weight_tag(layer, kind));
  Adapter adapter{.a_RI = at::empty({rank, weight.columns}, options),
                  .b_OR = at::empty({weight.rows, rank}, options).zero_()};
  draw(adapter.a_RI, model.adapter_options.start);
  adapter.a_RI.requires_grad_(true);
  adapter.b_OR.requires_grad_(true);
  return adapter;
}

void set_seed(at::Device device, std::uint64_t seed) {
  if (device.is_meta()) return;
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace

std::string projection_name(ProjectionKind kind) { return std::string(info_of(op_of(kind)).module); }

bool has_adapter(AdapterTargets targets, ProjectionKind kind) {
  const bool attention = kind <= ProjectionKind::kO;
  return targets == AdapterTargets::kAll || attention == (targets == AdapterTargets::kAttention);
}

Projection projection(const Model& model, std::int64_t layer, ProjectionKind kind) {
  const auto i = static_cast<std::size_t>(layer), k = static_cast<std::size_t>(kind);
  const LayerWeights& w = model.layers[i];
  const auto bias = member_of(op_of(kind), WeightKind::kBias);
  Projection p{.weight_OI = w.*member_of(op_of(kind), WeightKind::kMatrix),
               .bias_O = bias == nullptr ? at::Tensor() : w.*bias,
               .op = number_of(op_of(kind)),
               .tf32 = model.tf32,
               .fp8 = model.fp8.get(),
               .fp8_index = layer * static_cast<std::int64_t>(kProjectionKinds) + static_cast<std::int64_t>(kind)};
  if (model.adapters.empty()) return p;
  const LayerAdapters& adapters = model.adapters[i];
  if (adapters.quantised[k]) p.quantised = &*adapters.quantised[k];
  p.a_RI = adapters.beside[k].a_RI;
  p.b_OR = adapters.beside[k].b_OR;
  p.scale = model.adapter_options.alpha / static_cast<double>(model.adapter_options.rank);
  return p;
}

void quantise_layer(Model& model, std::int64_t layer) {
  const at::AutoGradMode grad_mode(false);
  const auto i = static_cast<std::size_t>(layer);
  for (std::size_t k = 0; k < kProjectionKinds; ++k) {
    const auto kind = static_cast<ProjectionKind>(k);
    const Scope scope(weight_tag(layer, kind));
    at::Tensor& weight = weight_of(model.layers[i], kind);
    model.adapters[i].quantised[k] = kernels::nf4_quantise(weight.detach());
    weight = at::Tensor();
  }
}

void add_adapters(Model& model, const AdapterOptions& options, std::uint64_t seed) {
  const at::AutoGradMode grad_mode(false);
  model.adapter_options = options;
  model.adapters.resize(model.layers.size());
  for (Parameter& parameter : parameters(model)) parameter.tensor.requires_grad_(false);
  set_seed(model.embed_tokens_VH.device(), seed + kSeedStep);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    if (options.kind == AdapterKind::kQlora && model.layers[i].q_proj_QH.defined()) quantise_layer(model, layer);
    for (std::size_t k = 0; k < kProjectionKinds; ++k) {
      const auto kind = static_cast<ProjectionKind>(k);
      if (has_adapter(options.targets, kind)) model.adapters[i].beside[k] = make_adapter(model, layer, kind);
    }
  }
}

void add_adapter(at::Tensor& weight_OI, const Projection& p) {
  if (weight_OI.scalar_type() == p.a_RI.scalar_type())
    weight_OI.addmm_(p.b_OR, p.a_RI, /*beta=*/1, /*alpha=*/p.scale);
  else
    weight_OI.copy_(weight_OI.to(at::kFloat).addmm_(p.b_OR, p.a_RI, /*beta=*/1, /*alpha=*/p.scale));
}

}  // namespace headroom::llama
