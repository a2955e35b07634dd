// NF4 with double quantization in float64.
#include <vector>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::kernels {

namespace {

// x as [blocks, size], padded with zeros.
at::Tensor in_blocks(const at::Tensor& x, std::int64_t size) {
  const std::int64_t blocks = (x.numel() + size - 1) / size;
  const at::Tensor padded = at::zeros({blocks * size}, x.options());
  padded.narrow(0, 0, x.numel()).copy_(x);
  return padded.view({blocks, size});
}

// Divides each row of x [blocks, size] by its absmax, and returns the nearest values of `levels` [L], times `factor`
// (if undefined, the absmax).
at::Tensor nearest(const at::Tensor& x, const at::Tensor& levels, const at::Tensor& factor) {
  const at::Tensor absmax = x.abs().amax(1, /*keepdim=*/true);
  const at::Tensor share = at::where(absmax > 0, x / absmax, 0.0);
  const at::Tensor nearest_level = at::empty_like(share);
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    const at::Tensor distance = (share[row].unsqueeze(1) - levels.unsqueeze(0)).abs();
    nearest_level[row].copy_(levels.index({distance.argmin(1)}));
  }
  return nearest_level * (factor.defined() ? factor : absmax);
}

}  // namespace

at::Tensor nf4_reference(const at::Tensor& weight) {
  const at::Tensor w = in_blocks(weight.detach().to(at::kCPU).to(at::kDouble).flatten(), kNf4Block);
  const std::vector<double> published(std::begin(kNf4Levels), std::end(kNf4Levels));
  const at::Tensor absmax = w.abs().amax(1);
  const at::Tensor mean = absmax.mean();
  const at::Tensor coded = nearest(in_blocks(absmax - mean, kNf4ScaleBlock), dynamic_map_reference(true), {});
  const at::Tensor kept = mean + coded.flatten().narrow(0, 0, absmax.numel());
  const at::Tensor result = nearest(w, at::tensor(published, at::kDouble), kept.unsqueeze(1));
  return result.flatten().narrow(0, 0, weight.numel()).view(weight.sizes());
}

}  // namespace headroom::kernels
