// Low-rank adapters beside frozen weights (LoRA: Hu et al. 2021, arXiv:2106.09685), and frozen weights in four bits
// (QLoRA: Dettmers et al. 2023, arXiv:2305.14314).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/projection.h"
#include "demos/predict/techniques.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::llama {

struct Model;

using predict::AdapterKind;
using predict::AdapterOptions;
using predict::AdapterTargets;

// The linear layers of a layer, in the order of the forward pass.
enum class ProjectionKind : std::uint8_t { kQ, kK, kV, kO, kGate, kUp, kDown };
inline constexpr std::size_t kProjectionKinds = 7;

// y = W x + α/r · B A x.
struct Adapter {
  at::Tensor a_RI;  // drawn: AdapterOptions::start
  at::Tensor b_OR;  // 0 at first, so that the first step is the base model's
};

struct LayerAdapters {
  std::array<Adapter, kProjectionKinds> beside;                               // undefined where a projection has none
  std::array<std::optional<kernels::Nf4Matrix>, kProjectionKinds> quantised;  // kQlora; its LayerWeights are undefined
};

// "self_attn.q_proj", as files name its part of a layer.
std::string projection_name(ProjectionKind kind);

// Whether a projection has an adapter.
bool has_adapter(AdapterTargets targets, ProjectionKind kind);

// A projection of a layer as the step computes it.
Projection projection(const Model& model, std::int64_t layer, ProjectionKind kind);

// Freezes a model and puts adapters beside its weights, drawn with the seed; kQlora first replaces the projections'
// weights, one after the other. Memory of an adapter: r (I + O) elements of the model's type or fp32; of an NF4 matrix:
// kernels::nf4_bytes(I O).
void add_adapters(Model& model, const AdapterOptions& options, std::uint64_t seed);

// One layer's part of kQlora, for a model that is being built: its 16-bit weights are never all there at once.
void quantise_layer(Model& model, std::int64_t layer);

// W + α/r · B A into a weight, rounded once.
void add_adapter(at::Tensor& weight_OI, const Projection& p);

// The same into the weights, in the model's type (NF4: dequantized), which are trained again; no adapters are left.
void merge_adapters(Model& model);

}  // namespace headroom::llama
