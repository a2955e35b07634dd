// Which of a step's operations count as work for the model, and the peak that they are held against: the two sides of MFU and
// HFU. Plain arithmetic; every worked number below is tested.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "demos/predict/cards.h"
#include "demos/predict/step_settings.h"

namespace headroom::predict {

// Which products between positions are counted beside those with weights.
enum class AttentionFlops : std::uint8_t { kNone, kCausal, kAll };
inline constexpr std::array kAttentionFlops{
    Meant<AttentionFlops>{{"none", "left out: 6 P"}, AttentionFlops::kNone},
    Meant<AttentionFlops>{{"causal", "earlier positions: 6 P + 6 L H T"}, AttentionFlops::kCausal},
    Meant<AttentionFlops>{{"all", "all pairs: 6 P + 12 L H T"}, AttentionFlops::kAll},
};

// Forward and backward of one token: two operations for each weight in forward, two for the gradient of its input and two for
// its own where it is trained; 12 L · A D · T between positions, half of that if only earlier ones count. 1B: 6 P =
// 7,414,886,400; 1,024 tokens, causal: 201,326,592 more.
double model_flops_per_token(const StepSettings& step, AttentionFlops attention);
// Of the forward products that run again for backward. 1B, each layer by itself: 1,409,286,144, since a layer's last product is
// not needed again, nor is the output layer.
double repeated_flops_per_token(const StepSettings& step, AttentionFlops attention);
// Extra forward operations per token if backward recomputes every layer completely: two per weight of the layers. 1B:
// 2 L P_layer = 1,946,288,128, 26 % of 6 P. PyTorch's reentrant checkpoint does so ("always recomputes the function in its
// entirety", torch/utils/checkpoint.py), and gradient_checkpointing_enable() of transformers chose it by default in 2024.
double whole_layers_flops_per_token(const StepSettings& step, AttentionFlops attention);

// Operations per second of the step's products by the data sheet: of the format in which they multiply. Nothing: the card
// lacks it, or it is not known.
std::optional<double> products_peak(const StepSettings& step, const Card& card);
// The same without fp8, which only the layers have.
std::optional<double> head_peak(const StepSettings& step, const Card& card);

// By the driver's name of it; null: it is not in the table.
const Card* card_of_gpu(std::string_view gpu);

}  // namespace headroom::predict
