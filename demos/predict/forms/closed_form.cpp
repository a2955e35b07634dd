// Converts a step's moments to phases, and names the settings that are supported only in part.
#include "demos/predict/forms/closed_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/step_moments.h"
#include "demos/predict/optimizers.h"

namespace headroom::predict {

namespace {

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

}  // namespace

const ClosedForm::Moment& ClosedForm::peak() const {
  return *std::ranges::max_element(moments, {}, [](const Moment& moment) { return record::total(moment.bytes); });
}

ClosedForm closed_form(const StepSettings& step) {
  ClosedForm form{.left_out = left_out(step), .assumed = assumed(step)};
  for (const StepMoment& moment : step_moments(step)) form.moments.push_back({phase_of(moment.place), moment.bytes});
  return form;
}

}  // namespace headroom::predict
