// AdamW on tensors.
#include "kernels/adamw/adamw_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/adamw/adamw_checks.h"
#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kAdamwGrain = 32768;

// Tensors of the same types share a launch.
struct Group {
  AdamWTypes types;
  std::vector<AdamWTensor> tensors;
};

AdamWTypes checked_types(const AdamWParameter& p, const AdamWControl& control, at::Device device) {
  AdamWTypes types = checked_weight(p.param, p.gradient, p.working, control, "adamw");
  TORCH_CHECK(p.param.device() == device, "adamw: parameters are on several devices");
  for (const at::Tensor* tensor : {&p.first_moment, &p.second_moment}) {
    TORCH_CHECK(tensor->defined(), "adamw: a parameter has no moment");
    TORCH_CHECK(tensor->is_contiguous() && tensor->sizes() == p.param.sizes() && tensor->device() == device,
                "adamw: parameter and moments differ in shape, layout or device");
  }
  TORCH_CHECK(p.first_moment.scalar_type() == p.second_moment.scalar_type(), "adamw: the two moments differ in type");
  const auto moment = storage_of(p.first_moment.scalar_type());
  types.moment = moment.value_or(Storage::kFp16);
  TORCH_CHECK(types.supported(), "adamw: no kernel for moments of ", p.first_moment.scalar_type());
  return types;
}

void run_on_cpu(const Group& group, const AdamWStep& step, const AdamWSwitches& switches) {
  std::vector<std::int64_t> first{0};  // offset of each tensor, as if all were one
  for (const AdamWTensor& tensor : group.tensors) first.push_back(first.back() + tensor.n);
  at::parallel_for(0, first.back(), kAdamwGrain, [&](std::int64_t begin, std::int64_t end) {
    auto which = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), begin) - first.begin()) - 1;
    for (; begin < end; ++which) {
      const std::int64_t until = std::min(end, first[which + 1]);
      adamw_cpu(group.tensors[which], group.types, begin - first[which], until - first[which], step, switches);
      begin = until;
    }
  });
}

void run_on_cuda(const Group& group, at::Device device, const AdamWStep& step, const AdamWSwitches& switches) {
  const c10::cuda::CUDAGuard guard(device);
  const int error = adamw_cuda(group.tensors, group.types, step, switches, c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(error == 0, "adamw: the launch failed with CUDA error ", error);
}

template <typename T>
const T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
}

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
  if (parameters.empty()) return;
  TORCH_CHECK(parameters.front().param.defined(), "adamw: a parameter is undefined");
  const at::Device device = parameters.front().param.device();
  const AdamWSwitches switches = checked_switches(control, device, "adamw");
  std::vector<Group> groups;
  std::int64_t place = 0;
  for (const AdamWParameter& p : parameters) {
    const AdamWTypes types = checked_types(p, control, device);
    const std::int64_t number = p.number < 0 ? place : p.number;
    ++place;
    if (device.is_meta()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.types == types; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.types = types, .tensors = {}});
    group->tensors.push_back({.param = p.param.mutable_data_ptr(),
                              .gradient = p.gradient.const_data_ptr(),
                              .first_moment = p.first_moment.mutable_data_ptr(),
                              .second_moment = p.second_moment.mutable_data_ptr(),
                              .n = p.param.numel(),
                              .decays = p.decays,
                              .working = p.working.defined() ? p.working.mutable_data_ptr() : nullptr,
                              .number = number});
  }
  if (groups.empty()) return;
  const Traced traced("adamw", [&](const auto& touch) {
    for (const AdamWParameter& p : parameters) {
      touch(p.gradient);
      for (const at::Tensor* changed : {&p.param, &p.first_moment, &p.second_moment}) {
        touch(*changed);  // read
        touch(*changed);  // written
      }
      if (p.working.defined()) touch(p.working);
    }
  });
  for (const Group& group : groups) {
    if (device.is_cuda()) {
      run_on_cuda(group, device, step, switches);
    } else {
      run_on_cpu(group, step, switches);
    }
  }
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
    const c10::cuda::CUDAGuard guard(device);
    const int error = advance_step_count_cuda(count, stop, c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CHECK(error == 0, "advance_step_count_: the launch failed with CUDA error ", error);
  } else if (stop == nullptr || *stop == 0) {
    ++*count;
  }
}

}  // namespace headroom::kernels
