// The FLOPs that count for MFU and HFU, and the card's peak. Every worked number is tested.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/predict/cards/cards.h"
#include "demos/predict/step_settings.h"

namespace headroom::predict {

enum class AttentionFlops : std::uint8_t { kNone, kCausal, kAll };
inline constexpr std::array kAttentionFlops{
    Meant<AttentionFlops>{{"none", "left out: 6 P"}, AttentionFlops::kNone},
    Meant<AttentionFlops>{{"causal", "earlier positions: 6 P + 6 L H T"}, AttentionFlops::kCausal},
    Meant<AttentionFlops>{{"all", "all pairs: 6 P + 12 L H T"}, AttentionFlops::kAll},
};

// Per weight: two FLOPs forward, two for the input's gradient, two for the weight's own gradient if trained. Attention:
// 12 L · A D · T, or half of that if causal. 1B: 6 P = 7,414,886,400; causal attention with 1,024 tokens adds
// 201,326,592.
double model_flops_per_token(const StepSettings& step, AttentionFlops attention);
// FLOPs of recomputed forward GEMMs. 1B, one layer per recompute: 1,409,286,144, since a layer's last GEMM and the head
// are not recomputed.
double repeated_flops_per_token(const StepSettings& step, AttentionFlops attention);
// FLOPs of recomputing complete layers: two per weight. 1B: 2 L P_layer = 1,946,288,128, 26 % of 6 P. PyTorch's
// reentrant checkpoint does so ("always recomputes the function in its entirety", torch/utils/checkpoint.py), and was
// the default of transformers' gradient_checkpointing_enable() in 2024.
double whole_layers_flops_per_token(const StepSettings& step, AttentionFlops attention);

// FLOP/s in the GEMMs' format, from the data sheet. nullopt if unknown or unsupported.
std::optional<double> products_peak(const StepSettings& step, const Card& card);
// Like products_peak(), but never in fp8, which the head does not use.
std::optional<double> head_peak(const StepSettings& step, const Card& card);

// Looked up by the driver's name; null if unknown.
const Card* card_of_gpu(std::string_view gpu);

}  // namespace headroom::predict
