// Cross entropy in float64.
#include "kernels/cross_entropy/cross_entropy_ops.h"

namespace headroom::kernels {

CrossEntropyReference cross_entropy_reference(const at::Tensor& logits_NV, const at::Tensor& targets_N,
                                              const CrossEntropyOptions& options) {
  const at::Tensor z = logits_NV.detach().to(at::kDouble);
  const at::Tensor valid_N1 = targets_N.ne(options.ignore_index).unsqueeze(1);
  const at::Tensor targets_N1 = at::where(valid_N1, targets_N.unsqueeze(1), at::zeros_like(targets_N).unsqueeze(1));
  const double smoothing = options.label_smoothing, vocab = static_cast<double>(z.size(1));
  const at::Tensor log_p = at::log_softmax(z, -1);
  at::Tensor loss = -(1 - smoothing) * log_p.gather(1, targets_N1);
  if (smoothing != 0) loss = loss - smoothing * log_p.mean(-1, /*keepdim=*/true);
  const at::Tensor share = at::full_like(z, smoothing / vocab)
                               .scatter_add(1, targets_N1, at::full(targets_N1.sizes(), 1 - smoothing, z.options()));
  at::Tensor dlogits = log_p.exp() - share;
  loss = at::where(valid_N1, loss, at::zeros_like(loss)).squeeze(1);
  dlogits = at::where(valid_N1, dlogits, at::zeros_like(dlogits));
  if (options.reduction == Reduction::kNone) return {.loss = loss, .dlogits = dlogits};
  const at::Tensor divisor =
      options.reduction == Reduction::kMean ? valid_N1.sum().to(at::kDouble).clamp_min(1) : at::ones({}, z.options());
  return {.loss = loss.sum() / divisor, .dlogits = dlogits / divisor};
}

}  // namespace headroom::kernels
