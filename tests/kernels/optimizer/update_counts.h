// Random steps, and their changes counted by exponent.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/exponent_counts/exponent_counts_ops.h"

namespace headroom::tests {

inline at::Tensor no_counts(at::Device device) {
  return at::zeros({kernels::kExponentBins}, at::TensorOptions(at::kLong).device(device));
}

inline std::vector<std::int64_t> numbers(const at::Tensor& counts) {
  const at::Tensor here = counts.cpu();
  const auto* const first = here.const_data_ptr<std::int64_t>();
  return {first, first + here.numel()};
}

// Every third weight is unchanged.
inline kernels::AdamWChange random_change(std::int64_t n, at::ScalarType weight, at::ScalarType moment,
                                          at::Device device) {
  at::manual_seed(4);
  const at::Tensor before = (at::randn({n}) * 0.02).to(weight);
  at::Tensor after = before + (at::randn({n}) * 1e-3).to(weight);
  after = at::where(at::arange(n).remainder(3).eq(0), before, after);
  const at::Tensor m = at::randn({n}) * 1e-3, v = at::rand({n}) * 1e-6;
  return {.before = before.to(device),
          .after = after.to(device),
          .first_moment = m.to(moment).to(device),
          .second_moment = v.to(moment).to(device)};
}

struct UpdateCounts {
  std::vector<std::int64_t> updates, lost;
};

inline UpdateCounts update_counts(const kernels::AdamWChange& change, const kernels::AdamWStep& step,
                                  const kernels::AdamWControl& control = {}) {
  const at::Tensor updates = no_counts(change.before.device()), lost = no_counts(change.before.device());
  kernels::count_updates_(updates, lost, change, step, control);
  return {numbers(updates), numbers(lost)};
}

}  // namespace headroom::tests
