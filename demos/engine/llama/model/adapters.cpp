// Creates and merges adapters.
#include "demos/engine/llama/model/adapters.h"

#include <cmath>
#include <mutex>
#include <utility>

#include <c10/util/Exception.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/model.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

constexpr std::uint64_t kSeedStep = 0x9e3779b97f4a7c15u;  // keeps adapters apart from the weights' seed

std::uint16_t op_of(ProjectionKind kind) {
  const std::array<std::uint16_t, kProjectionKinds> ops{
      number_of(Op::kQProj),    number_of(Op::kKProj),  number_of(Op::kVProj),   number_of(Op::kOProj),
      number_of(Op::kGateProj), number_of(Op::kUpProj), number_of(Op::kDownProj)};
  return ops[static_cast<std::size_t>(kind)];
}

std::array<at::Tensor*, kProjectionKinds> projections_of(LayerWeights& w) {
  return {&w.q_proj_QH, &w.k_proj_KH, &w.v_proj_KH, &w.o_proj_HQ, &w.gate_proj_FH, &w.up_proj_FH, &w.down_proj_HF};
}

const at::Tensor& weight_of(const LayerWeights& w, ProjectionKind kind) {
  const std::array<const at::Tensor*, kProjectionKinds> all{
      &w.q_proj_QH, &w.k_proj_KH, &w.v_proj_KH, &w.o_proj_HQ, &w.gate_proj_FH, &w.up_proj_FH, &w.down_proj_HF};
  return *all[static_cast<std::size_t>(kind)];
}

at::Tensor bias_of(const LayerWeights& w, ProjectionKind kind) {
  const std::array<at::Tensor, kProjectionKinds> all{w.q_bias_Q, w.k_bias_K, w.v_bias_K, w.o_bias_H};
  return all[static_cast<std::size_t>(kind)];
}

std::array<std::int64_t, 2> shape_of(const Config& c, ProjectionKind kind) {
  const std::int64_t h = c.hidden_size, f = c.intermediate_size;
  const std::int64_t queries = c.num_heads * c.head_dim, keys = c.num_kv_heads * c.head_dim;
  const std::array<std::array<std::int64_t, 2>, kProjectionKinds> shapes{
      {{queries, h}, {keys, h}, {keys, h}, {h, queries}, {f, h}, {f, h}, {h, f}}};
  return shapes[static_cast<std::size_t>(kind)];
}

record::Tag weight_tag(std::int64_t layer, ProjectionKind kind) {
  return {.phase = record::Phase::kSetup,
          .category = Category::kWeights,
          .layer = static_cast<std::uint16_t>(layer),
          .op = op_of(kind)};
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
  const auto [outputs, inputs] = shape_of(model.config, kind);
  const std::int64_t rank = model.adapter_options.rank;
  at::TensorOptions options = model.embed_tokens_VH.options();
  if (model.adapter_options.fp32) options = options.dtype(at::kFloat);
  const Scope scope(weight_tag(layer, kind));
  Adapter adapter{.a_RI = at::empty({rank, inputs}, options), .b_OR = at::empty({outputs, rank}, options).zero_()};
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

std::string projection_name(ProjectionKind kind) {
  constexpr std::array<const char*, kProjectionKinds> kNames{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                                             "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                                             "mlp.down_proj"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool has_adapter(AdapterTargets targets, ProjectionKind kind) {
  const bool attention = kind <= ProjectionKind::kO;
  return targets == AdapterTargets::kAll || attention == (targets == AdapterTargets::kAttention);
}

Projection projection(const Model& model, std::int64_t layer, ProjectionKind kind) {
  const auto i = static_cast<std::size_t>(layer), k = static_cast<std::size_t>(kind);
  Projection p{.weight_OI = weight_of(model.layers[i], kind),
               .bias_O = bias_of(model.layers[i], kind),
               .op = op_of(kind),
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
  const auto weights = projections_of(model.layers[static_cast<std::size_t>(layer)]);
  for (std::size_t k = 0; k < kProjectionKinds; ++k) {
    const Scope scope(weight_tag(layer, static_cast<ProjectionKind>(k)));
    model.adapters[static_cast<std::size_t>(layer)].quantised[k] = kernels::nf4_quantise(weights[k]->detach());
    *weights[k] = at::Tensor();
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

void merge_adapters(Model& model) {
  const at::AutoGradMode grad_mode(false);
  for (std::size_t i = 0; i < model.adapters.size(); ++i) {
    const auto weights = projections_of(model.layers[i]);
    for (std::size_t k = 0; k < kProjectionKinds; ++k) {
      const auto kind = static_cast<ProjectionKind>(k);
      const Scope scope(weight_tag(static_cast<std::int64_t>(i), kind));
      const Projection p = projection(model, static_cast<std::int64_t>(i), kind);
      if (p.quantised != nullptr)
        *weights[k] = kernels::nf4_dequantise(*p.quantised, model.embed_tokens_VH.scalar_type());
      if (p.a_RI.defined()) add_adapter(*weights[k], p);
    }
  }
  model.adapters.clear();
  model.adapter_options = {};
  for (Parameter& parameter : parameters(model)) parameter.tensor.requires_grad_(true);
}

}  // namespace headroom::llama
