// AdamW on tensors.
#include "kernels/adamw/adamw_ops.h"

#include <array>
#include <cmath>

#include "kernels/adamw/adamw_checks.h"

namespace headroom::kernels {

namespace {

struct AdamWKernel {
  static constexpr const char* kName = "adamw";
  static constexpr std::int64_t kGrain = 32768;
  static constexpr auto* kCpu = &adamw_cpu;
  static constexpr auto* kCuda = &adamw_cuda;

  static std::array<at::Tensor, 2> state(const AdamWParameter& p) { return {p.first_moment, p.second_moment}; }
  static std::int64_t units(std::int64_t n) { return n; }
  static void check_state(const AdamWParameter& p, AdamWTypes& types) {
    for (const at::Tensor& tensor : state(p)) {
      TORCH_CHECK(tensor.defined(), "adamw: a parameter has no moment");
      TORCH_CHECK(tensor.is_contiguous() && tensor.sizes() == p.param.sizes() && tensor.device() == p.param.device(),
                  "adamw: parameter and moments differ in shape, layout or device");
    }
    TORCH_CHECK(p.first_moment.scalar_type() == p.second_moment.scalar_type(), "adamw: the two moments differ in type");
    types.moment = storage_of(p.first_moment.scalar_type()).value_or(Storage::kFp16);
    TORCH_CHECK(types.supported(), "adamw: no kernel for moments of ", p.first_moment.scalar_type());
  }
  static AdamWTensor raw(const AdamWParameter& p) {
    return {.first_moment = p.first_moment.mutable_data_ptr(), .second_moment = p.second_moment.mutable_data_ptr()};
  }
};

}  // namespace

AdamWSwitches checked_switches(const AdamWControl& control, at::Device device, const char* name) {
  const auto check = [&](const at::Tensor& tensor, at::ScalarType type, const char* what) {
    if (tensor.defined()) check_number(tensor, type, device, name, what);
  };
  check(control.inverse_scale, at::kFloat, "inverse_scale");
  check(control.overflow, at::kInt, "overflow");
  check(control.step_count, at::kLong, "step_count");
  if (device.is_meta()) return {};
  return {.inverse_scale = pointer<float>(control.inverse_scale),
          .overflow = pointer<std::int32_t>(control.overflow),
          .step_count = pointer<std::int64_t>(control.step_count),
          .stochastic_rounding = control.stochastic_rounding,
          .seed = control.seed};
}

AdamWTypes checked_weight(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& working,
                          const AdamWControl& control, const char* name) {
  TORCH_CHECK(param.defined() && gradient.defined(), name, ": a parameter has no gradient");
  for (const at::Tensor* tensor : {&param, &gradient, &working}) {
    if (!tensor->defined()) continue;
    TORCH_CHECK(tensor->is_contiguous() && tensor->sizes() == param.sizes() && tensor->device() == param.device(), name,
                ": parameter, gradient and working copy differ in shape, layout or device");
  }
  const auto stored = storage_of(param.scalar_type()), stored_gradient = storage_of(gradient.scalar_type());
  AdamWTypes types;
  bool known = stored && stored_gradient;
  if (known) types = {.param = *stored, .gradient = *stored_gradient, .moment = Storage::kFp32, .working = {}};
  if (working.defined()) {
    types.working = storage_of(working.scalar_type());
    known = known && types.working.has_value();
  }
  TORCH_CHECK(known && types.supported(), name, ": no kernel for a parameter of ", param.scalar_type(),
              " with a gradient of ", gradient.scalar_type(), working.defined() ? " and this working copy" : "");
  TORCH_CHECK(!control.stochastic_rounding || types.param != Storage::kFp16, name,
              ": fp16 parameters have no stochastic rounding");
  return types;
}

void adamw(std::span<const AdamWParameter> parameters, const AdamWStep& step, const AdamWControl& control) {
  step_weights<AdamWKernel>(parameters, step, control);
}

void advance_step_count_(const at::Tensor& counter, const at::Tensor& overflow) {
  TORCH_CHECK(counter.defined(), "advance_step_count_: the counter is undefined");
  const at::Device device = counter.device();
  check_number(counter, at::kLong, device, "advance_step_count_", "counter");
  if (overflow.defined()) check_number(overflow, at::kInt, device, "advance_step_count_", "overflow");
  if (device.is_meta()) return;
  const Traced traced("advance_step_count", {counter, counter});
  auto* const count = counter.mutable_data_ptr<std::int64_t>();
  const auto* const stop = pointer<std::int32_t>(overflow);
  if (device.is_cuda()) {
    launch_on(device, "advance_step_count_",
              [&](CUstream_st* stream) { return advance_step_count_cuda(count, stop, stream); });
  } else if (stop == nullptr || *stop == 0) {
    ++*count;
  }
}

// Algorithm 2 of the paper, with schedule multiplier 1.
AdamWReference adamw_reference(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& first_moment,
                               const at::Tensor& second_moment, double learning_rate, double beta1, double beta2,
                               double epsilon, double weight_decay, std::int64_t t) {
  const at::Tensor p = param.to(at::kDouble);
  const at::Tensor g = gradient.to(at::kDouble);
  const at::Tensor m = beta1 * first_moment.to(at::kDouble) + (1 - beta1) * g;
  const at::Tensor v = beta2 * second_moment.to(at::kDouble) + (1 - beta2) * g * g;
  const at::Tensor m_hat = m / (1 - std::pow(beta1, static_cast<double>(t)));
  const at::Tensor v_hat = v / (1 - std::pow(beta2, static_cast<double>(t)));
  const at::Tensor stepped = p - learning_rate * (m_hat / (v_hat.sqrt() + epsilon) + weight_decay * p);
  return {.param = stepped, .first_moment = m, .second_moment = v};
}

}  // namespace headroom::kernels
