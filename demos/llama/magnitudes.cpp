// Counting by exponent, a few million numbers at a time.
#include "demos/llama/magnitudes.h"

#include <algorithm>
#include <utility>

namespace headroom::llama {

namespace {

constexpr std::int64_t kBins = 257, kZeros = 256, kNotFinite = 255;  // 0 … 254: fp32's exponent field
constexpr int kBias = 127;
constexpr std::int64_t kChunk = 1 << 22;  // numbers at a time: about 100 MB of workspace

std::uint16_t magnitudes_operator() {
  static const std::uint16_t op = record::intern_operator("magnitudes");
  return op;
}

at::Device device_of(const Optimizer& optimizer) { return optimizer.parameters().front().tensor.device(); }

// What depends on t, fp32 [1].
struct Corrections {
  at::Tensor step_size, second_moment_scale;
};

// `step_count`: t on the device, where only that one knows it; undefined: the host's.
Corrections corrections_of(const kernels::AdamWStep& step, const at::Tensor& step_count, at::Device device) {
  const auto fp32 = at::TensorOptions().device(device).dtype(at::kFloat);
  if (!step_count.defined())
    return {.step_size = at::full({1}, step.step_size, fp32),
            .second_moment_scale = at::full({1}, step.second_moment_scale, fp32)};
  const at::Tensor t = step_count.to(at::kDouble);
  const auto left = [&t](double beta) { return 1 - at::pow(beta, t); };
  return {.step_size = (step.learning_rate / left(step.exact_beta1)).to(at::kFloat),
          .second_moment_scale = left(step.exact_beta2).rsqrt().to(at::kFloat)};
}

template <class Each>
void in_chunks(std::int64_t n, Each each) {
  for (std::int64_t begin = 0; begin < n; begin += kChunk) each(begin, std::min(kChunk, n - begin));
}

}  // namespace

MagnitudeCounts::MagnitudeCounts(std::string name, at::Device device) : name_(std::move(name)) {
  const record::Scope scope(record::Category::kOther, magnitudes_operator());
  counts_ = at::zeros({kBins}, at::TensorOptions().device(device).dtype(at::kLong));
  one_ = at::ones({1}, at::TensorOptions().device(device).dtype(at::kLong));
}

void MagnitudeCounts::clear() { counts_.zero_(); }

void MagnitudeCounts::add(const at::Tensor& x, const at::Tensor& factor, const at::Tensor& only) {
  const at::AutoGradMode grad_mode(false);
  const record::Scope scope(record::Category::kWorkspace, magnitudes_operator());
  const at::Tensor flat = x.detach().reshape({-1});
  in_chunks(flat.numel(), [&](std::int64_t begin, std::int64_t count) {
    at::Tensor wide = flat.narrow(0, begin, count).to(at::kFloat);
    if (factor.defined()) wide = wide.mul(factor);
    // Zero's field is 0, as that of numbers too small for an exponent of their own.
    const at::Tensor is_zero = wide.eq(0).to(at::kInt);
    at::Tensor field = wide.view(at::kInt).bitwise_right_shift(23);
    field.bitwise_and_(0xff).add_(is_zero, kZeros);
    const at::Tensor share = only.defined() ? only.narrow(0, begin, count).to(at::kLong) : one_.expand({count});
    counts_.scatter_add_(0, field.to(at::kLong), share);
  });
}

record::Histogram MagnitudeCounts::read(int step) const {
  const at::Tensor counts = counts_.cpu();
  const std::int64_t* const count = counts.const_data_ptr<std::int64_t>();
  record::Histogram histogram{.name = name_, .step = step, .zeros = count[kZeros], .not_finite = count[kNotFinite]};
  std::int64_t first = 0, end = kNotFinite;
  while (first < end && count[first] == 0) ++first;
  while (end > first && count[end - 1] == 0) --end;
  histogram.low_exponent = static_cast<std::int32_t>(first) - kBias;
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

void StepMagnitudes::before_layer(std::int64_t, record::Phase) {
  if (!std::exchange(counted_, false)) return;
  for (MagnitudeCounts* counts : {&gradients_, &updates_, &lost_}) counts->clear();
}

void StepMagnitudes::gradients_ready(std::int64_t layer) {
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
  const record::Scope scope(record::Category::kWorkspace, magnitudes_operator());
  const Corrections corrections = corrections_of(step, control.step_count, before.device());
  const at::Tensor stepped = control.overflow.defined() ? control.overflow.eq(0) : at::Tensor();  // [1]
  const at::Tensor old = before.view({-1}), now = after.view({-1});
  const at::Tensor m = first_moment.view({-1}), v = second_moment.view({-1});
  in_chunks(old.numel(), [&](std::int64_t begin, std::int64_t count) {
    const auto part = [&](const at::Tensor& x) { return x.narrow(0, begin, count); };
    at::Tensor change = part(v).to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    change.sqrt_().mul_(corrections.second_moment_scale).add_(step.epsilon).reciprocal_();
    change.mul_(part(m).to(at::kFloat)).mul_(corrections.step_size).neg_();
    if (decays) change.add_(part(old).to(at::kFloat), step.decay - 1);
    at::Tensor lost = part(old).eq(part(now)).bitwise_and_(change.ne(0));
    if (stepped.defined()) lost.bitwise_and_(stepped);
    updates_.add(change, {}, stepped.defined() ? stepped.expand({count}) : at::Tensor());
    lost_.add(change, {}, lost);
  });
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
