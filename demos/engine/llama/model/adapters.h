// Low-rank adapters (LoRA: Hu et al. 2021, arXiv:2106.09685) of frozen weights, which may be 4-bit (QLoRA: Dettmers et
// al. 2023, arXiv:2305.14314).
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

// In the order of the forward pass.
enum class ProjectionKind : std::uint8_t { kQ, kK, kV, kO, kGate, kUp, kDown };
inline constexpr std::size_t kProjectionKinds = 7;

// y = W x + α/r · B A x.
struct Adapter {
  at::Tensor a_RI;  // drawn as AdapterOptions::start says
  at::Tensor b_OR;  // initially 0, so that the first step equals the base model's
};

struct LayerAdapters {
  std::array<Adapter, kProjectionKinds> beside;                               // undefined: no adapter
  std::array<std::optional<kernels::Nf4Matrix>, kProjectionKinds> quantised;  // for kQlora; LayerWeights are undefined
};

// For example "self_attn.q_proj".
std::string projection_name(ProjectionKind kind);

bool has_adapter(AdapterTargets targets, ProjectionKind kind);

Projection projection(const Model& model, std::int64_t layer, ProjectionKind kind);

// Freezes the model and adds adapters drawn with the seed; kQlora first quantizes the projections one by one. An
// adapter has r (I + O) elements; an NF4 matrix takes kernels::nf4_bytes(I O) bytes.
void add_adapters(Model& model, const AdapterOptions& options, std::uint64_t seed);

// Quantizes one layer for kQlora during make_model(), so that the 16-bit weights of all layers never coexist.
void quantise_layer(Model& model, std::int64_t layer);

// Adds α/r · B A to W and rounds the sum once.
void add_adapter(at::Tensor& weight_OI, const Projection& p);

}  // namespace headroom::llama
