// Takes an AdamW step on tensors to the kernel of their device.
#include "kernels/adamw/adamw_ops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/storage_ops.h"
#include "kernels/traced.h"

namespace headroom::kernels {

namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::int64_t kGrainElements = 32768;

// The tensors of one launch have all types alike.
struct Group {
  AdamWTypes types;
  std::vector<AdamWTensor> tensors;
};

AdamWTypes checked_types(const AdamWParameter& p, at::Device device) {
  for (const at::Tensor* tensor : {&p.param, &p.gradient, &p.first_moment, &p.second_moment}) {
    TORCH_CHECK(tensor->defined(), "adamw: a parameter has no gradient or no moment");
    TORCH_CHECK(tensor->is_contiguous() && tensor->sizes() == p.param.sizes() && tensor->device() == device,
                "adamw: parameter, gradient and moments differ in shape, layout or device");
  }
  TORCH_CHECK(p.first_moment.scalar_type() == p.second_moment.scalar_type(), "adamw: the two moments differ in type");
  const auto param = storage_of(p.param.scalar_type()), gradient = storage_of(p.gradient.scalar_type()),
             moment = storage_of(p.first_moment.scalar_type());
  const bool known = param && gradient && moment;
  const AdamWTypes types = known ? AdamWTypes{.param = *param, .gradient = *gradient, .moment = *moment} : AdamWTypes{};
  TORCH_CHECK(known && types.supported(), "adamw: no kernel for a parameter of ", p.param.scalar_type(),
              " with a gradient of ", p.gradient.scalar_type(), " and moments of ", p.first_moment.scalar_type());
  return types;
}

void run_on_cpu(const Group& group, const AdamWStep& step) {
  std::vector<std::int64_t> first{0};  // of each tensor, as if they lay in one row
  for (const AdamWTensor& tensor : group.tensors) first.push_back(first.back() + tensor.n);
  at::parallel_for(0, first.back(), kGrainElements, [&](std::int64_t begin, std::int64_t end) {
    auto which = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), begin) - first.begin()) - 1;
    for (; begin < end; ++which) {
      const std::int64_t until = std::min(end, first[which + 1]);
      adamw_cpu(group.tensors[which], group.types, begin - first[which], until - first[which], step);
      begin = until;
    }
  });
}

void run_on_cuda(const Group& group, at::Device device, const AdamWStep& step) {
  const c10::cuda::CUDAGuard guard(device);
  const int error = adamw_cuda(group.tensors, group.types, step, c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(error == 0, "adamw: the launch failed with CUDA error ", error);
}

}  // namespace

void adamw(std::span<const AdamWParameter> parameters, const AdamWStep& step, const AdamWControl& /*control*/) {
  if (parameters.empty()) return;
  const at::Device device = parameters.front().param.device();
  std::vector<Group> groups;
  for (const AdamWParameter& p : parameters) {
    const AdamWTypes types = checked_types(p, device);
    if (device.is_meta()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.types == types; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.types = types});
    group->tensors.push_back({.param = p.param.mutable_data_ptr(),
                              .gradient = p.gradient.const_data_ptr(),
                              .first_moment = p.first_moment.mutable_data_ptr(),
                              .second_moment = p.second_moment.mutable_data_ptr(),
                              .n = p.param.numel(),
                              .decays = p.decays});
  }
  if (groups.empty()) return;
  const Traced traced("adamw", [&](const auto& touch) {
    for (const AdamWParameter& p : parameters) {
      touch(p.gradient);
      for (const at::Tensor* changed : {&p.param, &p.first_moment, &p.second_moment}) {
        touch(*changed);  // read
        touch(*changed);  // and written
      }
    }
  });
  for (const Group& group : groups) {
    if (device.is_cuda()) {
      run_on_cuda(group, device, step);
    } else {
      run_on_cpu(group, step);
    }
  }
}

}  // namespace headroom::kernels
