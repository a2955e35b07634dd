// The rows. A new optimizer is a value of OptimizerKind, a row here, and a class in demos/engine/llama/optimizers.
#include "demos/predict/optimizers.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "demos/llama/extension.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/trained_weights.h"
#include "demos/record/find.h"

namespace headroom::predict {

using llama::LayerWeight;
using record::Bytes;

namespace {

Bytes two_per_weight(const StepSettings& step) { return 2 * step.moment_bytes() * updated_parameters(step); }

// Blocks never span tensors.
Bytes codes(const StepSettings& step) {
  const auto of = [](std::int64_t elements) { return elements == 0 ? 0 : kernels::adamw_8bit_state_bytes(elements); };
  Bytes sum = 0;
  for (const TrainedWeight& each : trained_weights(step)) {
    const Cut cut = cut_of(each, step.parallel.shards());
    sum += each.count * (of(cut.slice) + of(cut.rest));
  }
  return sum;
}

Bytes projected(const StepSettings& step) {
  const std::int64_t whole =
      llama::num_parameters(step.model, step.extension) - projection_parameters(step.model, step.extension);
  return kFp32 * galore_elements(step) + 2 * step.moment_bytes() * whole;
}

Bytes nothing(const StepSettings&) { return 0; }

// The largest part of a weight that a rank updates.
Bytes one_weight(const StepSettings& step) {
  std::int64_t most = 0;
  for (const TrainedWeight& each : trained_weights(step)) {
    const Cut cut = cut_of(each, step.parallel.shards());
    most = std::max({most, cut.slice, cut.rest});
  }
  if (!step.fused_adamw) return most * (step.masters() ? 2 * kFp32 : step.trained_bytes());
  return step.histogram ? most * step.trained_bytes() : 0;
}

Bytes one_projection(const StepSettings& step) {
  const std::int64_t h = step.model.hidden_size, f = llama::mlps(step.model, step.extension).widest();
  const std::int64_t r = std::min({step.low_rank(), f, h});
  return kFp32 * (f * h + (step.masters() ? 1 : 2) * r * std::max(f, h));
}

constexpr std::array kForms{
    OptimizerForm{.kind = OptimizerKind::kAdamW, .moments = two_per_weight, .scratch = one_weight},
    OptimizerForm{
        .kind = OptimizerKind::kAdamWForeach, .moments = two_per_weight, .scratch = nothing, .copies_moment = true},
    OptimizerForm{.kind = OptimizerKind::kAdamW8bit, .moments = codes, .scratch = nothing, .one_byte = true},
    OptimizerForm{
        .kind = OptimizerKind::kPagedAdamW8bit, .moments = codes, .scratch = nothing, .one_byte = true, .paged = true},
    OptimizerForm{.kind = OptimizerKind::kGaLore, .moments = projected, .scratch = one_projection, .low_rank = true},
};

bool on_device(const StepSettings& step) { return step.offload.state == StateOffload::kOff; }

Bytes masters(const StepSettings& step) { return step.masters() ? kFp32 * updated_parameters(step) : 0; }

}  // namespace

const OptimizerForm& form_of(OptimizerKind kind) {
  if (const auto* const found = record::find_in(kForms, kind, &OptimizerForm::kind)) return *found;
  throw std::logic_error("an optimizer has no row in kForms");
}

Bytes moments_8bit_bytes(std::int64_t parameters, std::int64_t block) {
  return 2 * parameters + 2 * kFp32 * ((parameters + block - 1) / block);
}

std::int64_t galore_elements(std::int64_t rows, std::int64_t columns, std::int64_t rank) {
  const std::int64_t r = std::min({rank, rows, columns});
  return 2 * r * std::max(rows, columns) + r * std::min(rows, columns);
}

std::int64_t galore_elements(const StepSettings& step) {
  std::int64_t sum = 0;
  for (const LayerWeight& each : projections(step.model, step.extension))
    sum += each.count * galore_elements(each.rows, each.columns, step.low_rank());
  return sum;
}

Bytes optimizer_state_bytes(const StepSettings& step) {
  return form_of(step.optimizer.kind).moments(step) + masters(step);
}

Bytes optimizer_state_on_device(const StepSettings& step) {
  if (!on_device(step)) return 0;
  return form_of(step.optimizer.kind).paged ? masters(step) : optimizer_state_bytes(step);
}

Bytes optimizer_scratch_bytes(const StepSettings& step, std::int64_t updated) {
  if (!on_device(step)) return 0;
  return form_of(step.optimizer.kind).scratch(step) + copied_moment_bytes(step, updated);
}

Bytes copied_moment_bytes(const StepSettings& step, std::int64_t updated) {
  return form_of(step.optimizer.kind).copies_moment ? step.moment_bytes() * updated : 0;
}

}  // namespace headroom::predict
