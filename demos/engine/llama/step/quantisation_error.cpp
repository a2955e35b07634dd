// Quantizes and counts with plain tensor operators.
#include "demos/engine/llama/step/quantisation_error.h"

#include <utility>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::llama {

namespace {

constexpr std::int64_t kFields = 256, kNotFinite = 255;  // fp32's exponent field
constexpr int kExponentBias = 127;

struct Sums {
  at::Tensor counts;  // int64 [256]
  at::Tensor errors;  // float64 [256]
  std::int64_t zeros = 0;
};

void add(Sums& sums, const at::Tensor& x, const at::Tensor& back) {
  const at::Tensor there = x.ne(0);
  sums.zeros += x.numel() - there.sum().item<std::int64_t>();
  const at::Tensor numbers = x.masked_select(there);
  const at::Tensor error = (back.masked_select(there) - numbers).abs().div_(numbers.abs()).to(at::kDouble);
  const at::Tensor field = numbers.view(at::kInt).bitwise_right_shift(23).bitwise_and_(0xff).to(at::kLong);
  sums.counts.scatter_add_(0, field, at::ones_like(field));
  sums.errors.scatter_add_(0, field, error);
}

}  // namespace

at::Tensor map_values(QuantisationMap map, bool is_signed, at::Device device) {
  at::Tensor values = map == QuantisationMap::kDynamic
                          ? std::get<0>(kernels::dynamic_map_reference(is_signed).sort())
                          : at::linspace(is_signed ? -1 : 0, 1, is_signed ? 255 : 256, at::kDouble);
  return values.to(at::kFloat).to(device);
}

at::Tensor quantised_and_back(const at::Tensor& x, const at::Tensor& values, std::int64_t block) {
  const std::int64_t n = x.numel(), blocks = (n + block - 1) / block;
  const at::Tensor rows = at::zeros({blocks * block}, x.options());
  rows.narrow(0, 0, n).copy_(x.reshape({-1}));
  const at::Tensor in_blocks = rows.view({blocks, block});
  const at::Tensor largest = in_blocks.abs().amax(1, /*keepdim=*/true);
  const at::Tensor scaled = in_blocks / at::where(largest.eq(0), at::ones_like(largest), largest);
  const at::Tensor between = (values.slice(0, 1) + values.slice(0, 0, -1)) / 2;
  at::Tensor index = at::bucketize(scaled, between);
  const bool is_unsigned = values[0].item<float>() == 0;
  if (is_unsigned) index = index.clamp_min(scaled.gt(0).to(at::kLong));
  return (values.index_select(0, index.view({-1})).view_as(scaled) * largest).view({-1}).narrow(0, 0, n).view_as(x);
}

record::Histogram quantisation_error(std::string name, std::span<const at::Tensor> tensors, QuantisationMap map,
                                     bool is_signed, std::int64_t block) {
  const at::AutoGradMode grad_mode(false);
  const at::Device device = tensors.front().device();
  const at::Tensor values = map_values(map, is_signed, device);
  Sums sums{.counts = at::zeros({kFields}, at::TensorOptions(at::kLong).device(device)),
            .errors = at::zeros({kFields}, at::TensorOptions(at::kDouble).device(device))};
  for (const at::Tensor& x : tensors) add(sums, x, quantised_and_back(x, values, block));
  const at::Tensor counts = sums.counts.cpu(), errors = (sums.errors / sums.counts.clamp_min(1)).cpu();
  const std::int64_t* const count = counts.const_data_ptr<std::int64_t>();
  const double* const error = errors.const_data_ptr<double>();
  std::int64_t first = 0, end = kNotFinite;
  while (first < end && count[first] == 0) ++first;
  while (end > first && count[end - 1] == 0) --end;
  record::Histogram histogram{.name = std::move(name),
                              .low_exponent = static_cast<std::int32_t>(first) - kExponentBias,
                              .zeros = sums.zeros,
                              .not_finite = count[kNotFinite]};
  histogram.counts.assign(count + first, count + end);
  histogram.errors.assign(error + first, error + end);
  return histogram;
}

}  // namespace headroom::llama
