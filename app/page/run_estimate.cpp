// Counts FLOPs.
#include "app/page/run_estimate.h"

#include "demos/llama/config.h"

namespace headroom::app::page {

double run_flops(const predict::StepSettings& settings) {
  const llama::Config& model = settings.model;
  const auto parameters = static_cast<double>(llama::num_parameters(model));
  const auto tokens = static_cast<double>(settings.tokens() * settings.micro_batches * settings.steps);
  const auto scores = 12.0 * static_cast<double>(model.num_layers * model.num_heads * model.head_dim) *
                      static_cast<double>(settings.sequence);
  return (6 * parameters + scores) * tokens;
}

}  // namespace headroom::app::page
