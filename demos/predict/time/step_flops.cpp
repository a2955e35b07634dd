// Counts FLOPs.
#include "demos/predict/time/step_flops.h"

#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/time/step_bound.h"
#include "demos/record/find.h"

namespace headroom::predict {

namespace {

// Forward FLOPs per token and layer: scores, and their GEMM with the values.
double attention_flops(const StepSettings& step, AttentionFlops attention) {
  if (attention == AttentionFlops::kNone) return 0;
  const double all = 4.0 * static_cast<double>(step.model.num_heads * step.model.head_dim * step.sequence);
  return attention == AttentionFlops::kCausal ? all / 2 : all;
}

}  // namespace

double model_flops_per_token(const StepSettings& step, AttentionFlops attention) {
  const auto weights = static_cast<double>(llama::num_parameters(step.model));
  const auto trained = static_cast<double>(trained_parameters(step));
  return 4 * weights + 2 * trained + 3 * static_cast<double>(step.model.num_layers) * attention_flops(step, attention);
}

double repeated_flops_per_token(const StepSettings& step, AttentionFlops attention) {
  if (step.recompute_every() == 0 || step.tokens() <= 0) return 0;
  double flops = static_cast<double>(step.model.num_layers * step.tokens()) * attention_flops(step, attention);
  for (const StepProduct& product : step_bound(step).products)
    flops += product.flops() * static_cast<double>(product.again);
  return flops / static_cast<double>(step.tokens());
}

double whole_layers_flops_per_token(const StepSettings& step, AttentionFlops attention) {
  const auto layers = static_cast<double>(step.model.num_layers);
  return layers * (2 * static_cast<double>(layer_parameters(step.model)) + attention_flops(step, attention));
}

std::optional<double> head_peak(const StepSettings& step, const Card& card) {
  if (step.tf32()) return card.tf32;
  if (step.element_bytes() == 4) return card.fp32;
  return step.precision == Precision::kFp16Mixed ? card.fp16 : card.bf16;
}

std::optional<double> products_peak(const StepSettings& step, const Card& card) {
  return step.fp8() ? card.fp8 : head_peak(step, card);
}

const Card* card_of_gpu(std::string_view gpu) {
  return gpu.empty() ? nullptr : record::find_in(cards(), gpu, &Card::driver_name);
}

}  // namespace headroom::predict
