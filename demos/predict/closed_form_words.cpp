// Settings that the closed form supports only in part.
#include "demos/predict/closed_form_words.h"

#include <fmt/format.h>

#include "demos/predict/optimizers.h"
#include "demos/predict/step_bytes.h"

namespace headroom::predict {

std::vector<std::string> left_out(const StepSettings& step) {
  std::vector<std::string> all;
  if (form_of(step.optimizer.kind).low_rank) all.emplace_back("the eigenvectors in a step that refreshes projections");
  if (step.adapters.fp32) all.emplace_back("the fp32 copies of the inputs that fp32 adapters read");
  if (step.fused.attention == Attention::kCudnn) all.emplace_back("cuDNN's own workspace");
  return all;
}

std::vector<std::string> assumed(const StepSettings& step) {
  if (!step.extension.experts) return {};
  const llama::Experts& experts = *step.extension.experts;
  std::vector<std::string> all{
      fmt::format("tokens are routed evenly to {} of {} experts each: none is dropped, and no expert's rows are padded",
                  experts.per_token, experts.count),
      fmt::format("each token's row, expert activations and result exist {} times", experts.per_token),
      fmt::format("a router keeps {} bytes per token and layer", record::format_count(router_bytes(step))),
      "the experts of a layer run as one grouped GEMM, and their gradients exist at the same time"};
  if (experts.shared_size > 0) all.emplace_back("every token goes to the shared expert as well");
  return all;
}

}  // namespace headroom::predict
