// Checks and steps of the AdamW operators. Included only by *_ops.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"

namespace headroom::kernels {

// Returns the control's tensors as pointers, all null on meta. Throws c10::Error with the operator's `name`.
AdamWSwitches checked_switches(const AdamWControl& control, at::Device device, const char* name);

// Returns the types of the weight, its gradient and its copy; `moment` keeps its default. Throws like
// checked_switches().
AdamWTypes checked_weight(const at::Tensor& param, const at::Tensor& gradient, const at::Tensor& working,
                          const AdamWControl& control, const char* name);

// Calls step(tensor, begin, end) for parts of all tensors, split as if the tensors were one. `first` has the number of
// elements or blocks before each tensor, then the total.
template <typename Step>
void for_each_part(const std::vector<std::int64_t>& first, std::int64_t grain, const Step& step) {
  at::parallel_for(0, first.back(), grain, [&](std::int64_t begin, std::int64_t end) {
    auto which = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), begin) - first.begin()) - 1;
    for (; begin < end; ++which) {
      const std::int64_t until = std::min(end, first[which + 1]);
      step(which, begin - first[which], until - first[which]);
      begin = until;
    }
  });
}

// Steps all weights with `Kernel`, one launch per combination of types.
template <typename Kernel, typename Parameter>
void step_weights(std::span<const Parameter> parameters, const AdamWStep& step, const AdamWControl& control) {
  using Tensor = decltype(Kernel::raw(parameters.front()));
  struct Group {
    AdamWTypes types;
    std::vector<Tensor> tensors;
  };
  if (parameters.empty()) return;
  TORCH_CHECK(parameters.front().param.defined(), Kernel::kName, ": a parameter is undefined");
  const at::Device device = parameters.front().param.device();
  const AdamWSwitches switches = checked_switches(control, device, Kernel::kName);
  std::vector<Group> groups;
  std::int64_t place = 0;
  for (const Parameter& p : parameters) {
    AdamWTypes types = checked_weight(p.param, p.gradient, p.working, control, Kernel::kName);
    TORCH_CHECK(p.param.device() == device, Kernel::kName, ": parameters are on several devices");
    Kernel::check_state(p, types);
    const std::int64_t number = p.number < 0 ? place : p.number;
    ++place;
    if (device.is_meta()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.types == types; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{.types = types, .tensors = {}});
    Tensor& raw = group->tensors.emplace_back(Kernel::raw(p));
    raw.param = p.param.mutable_data_ptr();
    raw.gradient = p.gradient.const_data_ptr();
    raw.n = p.param.numel();
    raw.decays = p.decays;
    raw.working = p.working.defined() ? p.working.mutable_data_ptr() : nullptr;
    raw.number = number;
  }
  if (groups.empty()) return;
  const Traced traced(Kernel::kName, [&](const auto& touch) {
    for (const Parameter& p : parameters) {
      touch(p.gradient);
      for (int i = 0; i < 2; ++i) {  // read and written
        touch(p.param);
        for (const at::Tensor& state : Kernel::state(p)) touch(state);
      }
      if (p.working.defined()) touch(p.working);
    }
  });
  for (const Group& group : groups) {
    if (device.is_cuda()) {
      launch_on(device, Kernel::kName,
                [&](CUstream_st* stream) { return Kernel::kCuda(group.tensors, group.types, step, switches, stream); });
      continue;
    }
    std::vector<std::int64_t> first{0};
    for (const Tensor& tensor : group.tensors) first.push_back(first.back() + Kernel::units(tensor.n));
    for_each_part(first, Kernel::kGrain, [&](std::size_t which, std::int64_t begin, std::int64_t end) {
      Kernel::kCpu(group.tensors[which], group.types, begin, end, step, switches);
    });
  }
}

}  // namespace headroom::kernels
