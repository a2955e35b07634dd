// Counts by kernels/exponent_counts.
#include "demos/engine/llama/step/magnitudes.h"

#include <utility>

#include "demos/engine/llama/model/labels.h"
#include "kernels/exponent_counts/exponent_counts_ops.h"

namespace headroom::llama {

namespace {

constexpr int kFp32Bias = 127;  // of fp32's exponent field

at::Device device_of(const Optimizer& optimizer) { return optimizer.parameters().front().tensor.device(); }

}  // namespace

MagnitudeCounts::MagnitudeCounts(std::string name, at::Device device) : name_(std::move(name)) {
  const record::Scope scope(record::Category::kOther, number_of(Op::kMagnitudes));
  counts_ = at::zeros({kernels::kExponentBins}, at::TensorOptions().device(device).dtype(at::kLong));
}

void MagnitudeCounts::clear() { counts_.zero_(); }

void MagnitudeCounts::add(const at::Tensor& x, const at::Tensor& factor) {
  kernels::count_exponents_(counts_, x, factor);
}

record::Histogram MagnitudeCounts::read(int step) const {
  const at::Tensor counts = counts_.cpu();
  const std::int64_t* const count = counts.const_data_ptr<std::int64_t>();
  record::Histogram histogram{
      .name = name_, .step = step, .zeros = count[kernels::kZeroBin], .not_finite = count[kernels::kNotFiniteBin]};
  std::int64_t first = 0, end = kernels::kNotFiniteBin;
  while (first < end && count[first] == 0) ++first;
  while (end > first && count[end - 1] == 0) --end;
  histogram.low_exponent = static_cast<std::int32_t>(first) - kFp32Bias;
  histogram.counts.assign(count + first, count + end);
  return histogram;
}

StepMagnitudes::StepMagnitudes(Optimizer& optimizer, at::Tensor loss_scale)
    : optimizer_(optimizer),
      loss_scale_(std::move(loss_scale)),
      gradients_("gradients", device_of(optimizer)),
      updates_("updates", device_of(optimizer)),
      lost_("updates.lost", device_of(optimizer)) {
  if (auto* const adamw = dynamic_cast<AdamW*>(&optimizer)) {
    adamw->observe(this);
    sees_updates_ = true;
  }
}

void StepMagnitudes::before_layer(std::int64_t, record::Phase phase) {
  if (phase == record::Phase::kEvaluation || !std::exchange(counted_, false)) return;
  for (MagnitudeCounts* counts : {&gradients_, &updates_, &lost_}) counts->clear();
}

void StepMagnitudes::gradients_ready(std::int64_t layer) {
  const record::Scope scope(record::Category::kWorkspace, number_of(Op::kMagnitudes));
  const at::Tensor inverse_scale = loss_scale_.defined() ? loss_scale_.reciprocal() : at::Tensor();
  for (const std::size_t i : optimizer_.group(layer)) {
    const at::Tensor& gradient = optimizer_.parameters()[i].tensor.grad();
    if (gradient.defined()) gradients_.add(gradient, inverse_scale);
  }
  counted_ = counted_ || layer == kOuterLayer;
}

void StepMagnitudes::updated(const at::Tensor& before, const at::Tensor& after, const at::Tensor& first_moment,
                             const at::Tensor& second_moment, const kernels::AdamWStep& step,
                             const kernels::AdamWControl& control, bool decays) {
  const record::Scope scope(number_of(Op::kMagnitudes));  // names the launch in traces
  kernels::count_updates_(updates_.counts(), lost_.counts(),
                          {.before = before,
                           .after = after,
                           .first_moment = first_moment,
                           .second_moment = second_moment,
                           .decays = decays},
                          step, control);
}

std::vector<record::Histogram> StepMagnitudes::read(int step) const {
  std::vector<record::Histogram> all{gradients_.read(step)};
  if (sees_updates_) {
    all.push_back(updates_.read(step));
    all.push_back(lost_.read(step));
  }
  return all;
}

}  // namespace headroom::llama
