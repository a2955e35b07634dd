// Makes a model's weights and tables, with labeled allocations.
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numbers>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/weights/stored_tensors.h"
#include "demos/engine/llama/model/weights/weight_maker.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Scope;

constexpr std::array kMembers{
    LayerMember{Op::kAttentionNorm, WeightKind::kNorm, &LayerWeights::attention_norm_H},
    LayerMember{Op::kQProj, WeightKind::kMatrix, &LayerWeights::q_proj_QH},
    LayerMember{Op::kQProj, WeightKind::kBias, &LayerWeights::q_bias_Q},
    LayerMember{Op::kKProj, WeightKind::kMatrix, &LayerWeights::k_proj_KH},
    LayerMember{Op::kKProj, WeightKind::kBias, &LayerWeights::k_bias_K},
    LayerMember{Op::kVProj, WeightKind::kMatrix, &LayerWeights::v_proj_KH},
    LayerMember{Op::kVProj, WeightKind::kBias, &LayerWeights::v_bias_K},
    LayerMember{Op::kQNorm, WeightKind::kHeadNorm, &LayerWeights::q_norm_D},
    LayerMember{Op::kKNorm, WeightKind::kHeadNorm, &LayerWeights::k_norm_D},
    LayerMember{Op::kOProj, WeightKind::kMatrix, &LayerWeights::o_proj_HQ},
    LayerMember{Op::kOProj, WeightKind::kBias, &LayerWeights::o_bias_H},
    LayerMember{Op::kMlpNorm, WeightKind::kNorm, &LayerWeights::mlp_norm_H},
    LayerMember{Op::kGateProj, WeightKind::kMatrix, &LayerWeights::gate_proj_FH},
    LayerMember{Op::kUpProj, WeightKind::kMatrix, &LayerWeights::up_proj_FH},
    LayerMember{Op::kDownProj, WeightKind::kMatrix, &LayerWeights::down_proj_HF},
};

at::Tensor made(const WeightMaker& make, const LayerWeight& weight) {
  const std::uint16_t op = number_of(weight.op);
  if (weight.kind == WeightKind::kMatrix) return make.matrix(weight.rows, weight.columns, op);
  return weight.kind == WeightKind::kBias ? make.zeros(weight.rows, op) : make.ones(weight.rows, op);
}

// Weights that exist only in some families come last, as in earlier recordings.
LayerWeights make_layer(const WeightMaker& make, const Config& config) {
  LayerWeights layer;
  for (const bool common : {true, false})
    for (const LayerWeight& weight : layer_weights(config))
      if (common == weight.in_every_family()) layer.*member_of(weight.op, weight.kind) = made(make, weight);
  return layer;
}

void load(const StoredWeights& files, const Parameter& parameter) {
  if (parameter.tensor.is_meta()) return;
  copy_weight(files, parameter.name, parameter.tensor);
}

// Uses no operators, which would allocate on a real device only.
at::Tensor upload(std::vector<float>& values, at::Device device) {
  const at::Tensor host = at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
  return at::empty(host.sizes(), host.options().device(device)).copy_(host);
}

constexpr double kInitialDeviation = 0.02;  // initializer_range of the published configs

}  // namespace

WeightMaker::WeightMaker(const ModelPlace& placement, std::uint64_t seed, bool draw)
    : options_(at::TensorOptions().device(placement.device).dtype(placement.type)), draw_(draw) {
  if (placement.device.is_meta()) return;
  at::Generator generator = at::globalContext().defaultGenerator(placement.device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

at::Tensor WeightMaker::matrix(std::int64_t rows, std::int64_t columns, std::uint16_t op) const {
  const Scope scope(tag(op));
  at::Tensor weight = at::empty({rows, columns}, options_);
  if (draw_) weight.normal_(0, kInitialDeviation);
  return weight.requires_grad_(true);
}

at::Tensor WeightMaker::filled(std::int64_t size, double value, std::uint16_t op) const {
  const Scope scope(tag(op));
  return at::empty({size}, options_).fill_(value).requires_grad_(true);
}

record::Tag WeightMaker::tag(std::uint16_t op) const {
  return {.phase = record::Phase::kSetup, .category = Category::kWeights, .layer = layer_, .op = op};
}

RopeTables make_rope_tables(const Config& config, const ModelPlace& placement, std::int64_t seq, bool fused) {
  const Scope scope(Category::kOther, number_of(Op::kRopeTables));
  std::vector<float> frequencies = rope_frequencies(config);  // [D/2]
  std::vector<float> positions(static_cast<std::size_t>(seq));
  for (std::size_t t = 0; t < positions.size(); ++t) positions[t] = static_cast<float>(t);
  const at::Tensor position_T1 = upload(positions, placement.device).view({-1, 1});
  const at::Tensor frequency_1J = upload(frequencies, placement.device).view({1, -1});
  const at::Tensor angle_TJ = position_T1 * frequency_1J;
  RopeTables tables;
  if (fused) {
    tables.cos = angle_TJ.cos();
    tables.sin = angle_TJ.sin();
    return tables;
  }
  const at::Tensor angle_T1D = at::cat({angle_TJ, angle_TJ}, -1).unsqueeze(1);
  tables.cos = angle_T1D.cos().to(placement.type);
  tables.sin = angle_T1D.sin().to(placement.type);
  return tables;
}

void take_blas_workspace(const ModelPlace& placement) {
  if (!placement.device.is_cuda()) return;
  const Scope scope(Category::kWorkspace, number_of(Op::kBlasWorkspace));
  const at::Tensor small = at::zeros({16, 16}, at::TensorOptions().device(placement.device).dtype(placement.type));
  at::mm(small, small);
}

std::vector<float> rope_frequencies(const Config& config) {
  std::vector<float> frequencies(static_cast<std::size_t>(config.head_dim / 2));
  for (std::size_t j = 0; j < frequencies.size(); ++j) {
    const double exponent = 2.0 * static_cast<double>(j) / static_cast<double>(config.head_dim);
    double frequency = std::pow(config.rope_theta, -exponent);
    if (config.rope_scaling) {
      const RopeScaling& scaling = *config.rope_scaling;
      const double wavelength = 2 * std::numbers::pi / frequency;
      if (wavelength > scaling.original_length / scaling.low_frequency_factor) {
        frequency /= scaling.factor;
      } else if (wavelength >= scaling.original_length / scaling.high_frequency_factor) {
        const double kept = (scaling.original_length / wavelength - scaling.low_frequency_factor) /
                            (scaling.high_frequency_factor - scaling.low_frequency_factor);
        frequency *= (1 - kept) / scaling.factor + kept;
      }
    }
    frequencies[j] = static_cast<float>(frequency);
  }
  return frequencies;
}

namespace {

std::vector<Parameter> outer_parameters(const Model& model) {
  std::vector<Parameter> all{
      {.name = "model.embed_tokens.weight", .tensor = model.embed_tokens_VH, .op = number_of(Op::kEmbedding)},
      {.name = "model.norm.weight", .tensor = model.final_norm_H, .op = number_of(Op::kFinalNorm)}};
  if (!model.config.tie_word_embeddings) {
    all.push_back({.name = "lm_head.weight", .tensor = model.lm_head_VH, .op = number_of(Op::kLmHead)});
  }
  return all;
}

std::vector<Parameter> layer_parameters(const Model& model, std::size_t i) {
  std::vector<Parameter> all;
  const auto add = [&](const std::string& name, const at::Tensor& tensor, std::uint16_t op) {
    if (!tensor.defined()) return;
    all.push_back({.name = "model.layers." + std::to_string(i) + "." + name,
                   .tensor = tensor,
                   .layer = static_cast<std::uint16_t>(i),
                   .op = op});
  };
  for (const LayerWeight& weight : layer_weights(model.config))
    add(weight.name(), model.layers[i].*member_of(weight.op, weight.kind), number_of(weight.op));
  if (model.adapters.empty()) return all;
  for (std::size_t k = 0; k < kProjectionKinds; ++k) {
    const auto kind = static_cast<ProjectionKind>(k);
    const Projection p = projection(model, static_cast<std::int64_t>(i), kind);
    add(projection_name(kind) + ".lora_A.weight", p.a_RI, p.op);
    add(projection_name(kind) + ".lora_B.weight", p.b_OR, p.op);
  }
  return all;
}

}  // namespace

at::Tensor LayerWeights::*member_of(Op op, WeightKind kind) {
  for (const LayerMember& each : kMembers)
    if (each.op == op && each.kind == kind) return each.tensor;
  return nullptr;
}

std::span<const LayerMember> layer_members() { return kMembers; }

Model make_model(const Config& config, const FusedKernels& fused, const ModelPlace& placement, std::int64_t seq,
                 std::uint64_t seed, const std::atomic<bool>* cancel, const ModelSource& source) {
  const at::AutoGradMode grad_mode(false);
  const auto stop_if_cancelled = [cancel] {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) throw Cancelled();
  };
  const auto load_all = [&source](const std::vector<Parameter>& some) {
    for (const Parameter& parameter : some)
      if (source.files != nullptr) load(*source.files, parameter);
  };
  Model model;
  model.config = config;
  model.target = placement.target;
  model.fused = fused;
  model.attention = attention_kernel(fused.attention, placement.target, placement.type);
  const RopeTables tables = make_rope_tables(config, placement, seq, fused.rope);
  model.cos = tables.cos;
  model.sin = tables.sin;
  if (model.attention == AttentionKernel::kEager) {
    model.mask_TT = causal_mask(seq, at::TensorOptions().device(placement.device).dtype(placement.type));
  }
  WeightMaker make(placement, seed, /*draw=*/source.files == nullptr);
  model.embed_tokens_VH = make.matrix(config.vocab_size, config.hidden_size, number_of(Op::kEmbedding));
  if (source.adapters.kind == AdapterKind::kQlora) model.adapters.resize(static_cast<std::size_t>(config.num_layers));
  for (std::int64_t i = 0; i < config.num_layers; ++i) {
    stop_if_cancelled();
    make.enter(static_cast<std::uint16_t>(i));
    model.layers.push_back(make_layer(make, config));
    load_all(layer_parameters(model, static_cast<std::size_t>(i)));
    if (source.adapters.kind == AdapterKind::kQlora) quantise_layer(model, i);
    if (source.layer_made) source.layer_made(model.layers.back());
  }
  stop_if_cancelled();
  make.enter(record::kNoLayer);
  model.final_norm_H = make.ones(config.hidden_size, number_of(Op::kFinalNorm));
  model.lm_head_VH = config.tie_word_embeddings
                         ? model.embed_tokens_VH
                         : make.matrix(config.vocab_size, config.hidden_size, number_of(Op::kLmHead));
  load_all(outer_parameters(model));
  if (source.adapters.kind != AdapterKind::kOff) add_adapters(model, source.adapters, seed);
  return model;
}

std::string head_name(const Model& model) {
  return model.config.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
}

std::vector<Parameter> parameters(const Model& model) {
  std::vector<Parameter> all = outer_parameters(model);
  const auto head = all.begin() + 1;
  std::vector<Parameter> layers;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    std::vector<Parameter> layer = layer_parameters(model, i);
    layers.insert(layers.end(), std::make_move_iterator(layer.begin()), std::make_move_iterator(layer.end()));
  }
  all.insert(head, std::make_move_iterator(layers.begin()), std::make_move_iterator(layers.end()));
  return all;
}

std::vector<Parameter> trainable_parameters(const Model& model) {
  std::vector<Parameter> all = parameters(model);
  std::erase_if(all, [](const Parameter& parameter) { return !parameter.tensor.requires_grad(); });
  return all;
}

}  // namespace headroom::llama
