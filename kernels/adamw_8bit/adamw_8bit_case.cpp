// Kernel case of AdamW with 8-bit moments.
#include <cmath>
#include <span>
#include <tuple>

#include "kernels/adamw/adamw_case.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/kernel_case.h"

namespace headroom::kernels {

namespace {

// An 8-bit moment computed with PyTorch's operators, padded with zeros to whole blocks.
class EagerMoment {
 public:
  EagerMoment(std::int64_t n, bool is_signed, at::Device device)
      : n_(n), blocks_(quantised_blocks(n)), map_(dynamic_map_reference(is_signed).to(device, at::kFloat)) {
    std::tie(sorted_, order_) = at::sort(map_);
    middle_ = (sorted_.narrow(0, 1, 255) + sorted_.narrow(0, 0, 255)) / 2;
    order_ = order_.to(at::kByte);
    write(at::zeros({n}, map_.options()));
  }
  at::Tensor read() const {
    const at::Tensor values = map_.index_select(0, codes_.to(at::kInt)).view({blocks_, kQuantisedBlock});
    return (values * absmax_.unsqueeze(1)).flatten().narrow(0, 0, n_);
  }
  void write(const at::Tensor& moment) {
    const std::int64_t whole = blocks_ * kQuantisedBlock;
    const at::Tensor x = at::constant_pad_nd(moment, {0, whole - n_}).view({blocks_, kQuantisedBlock});
    absmax_ = x.abs().amax(1);
    const at::Tensor share = x / absmax_.clamp_min(1e-30).unsqueeze(1);
    codes_ = order_.index_select(0, at::bucketize(share, middle_, /*out_int32=*/true).flatten());
  }

 private:
  std::int64_t n_, blocks_;
  at::Tensor map_;
  at::Tensor sorted_, order_;  // ascending values, and their codes
  at::Tensor middle_;          // midpoints of neighbors, where the nearest code changes
  at::Tensor codes_, absmax_;
};

AdamW8bitParameter fresh(const at::Tensor& start, const at::Tensor& gradient) {
  const at::Tensor zero = at::zeros({start.numel()}, start.options().dtype(at::kFloat));
  const BlockQuantised m = quantise_blockwise(zero, /*is_signed=*/true);
  const BlockQuantised v = quantise_blockwise(zero, /*is_signed=*/false);
  return {.param = start.clone(),
          .gradient = gradient,
          .m_codes = m.codes,
          .m_absmax = m.absmax,
          .v_codes = v.codes,
          .v_absmax = v.absmax};
}

KernelForms adamw_8bit_forms(const Shape&, const KernelInputs& in) {
  using namespace adamw_case;
  const at::Tensor start = in.inputs[0], gradient = in.inputs[1];
  const std::int64_t n = start.numel();
  KernelForms all;
  all.graphs = false;
  all.add("eager", "forward",
          [gradient, param = start.clone(), first = EagerMoment(n, true, start.device()),
           second = EagerMoment(n, false, start.device())]() mutable {
            const at::Tensor g = gradient.to(at::kFloat);
            const at::Tensor m = first.read().lerp_(g, 1 - kBeta1);
            const at::Tensor v = second.read().mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
            first.write(m);
            second.write(v);
            const at::Tensor root = (v.sqrt() / std::sqrt(kCorrection2)).add_(kEpsilon);
            param.copy_(param.to(at::kFloat).mul_(1 - kRate * kDecay).addcdiv_(m, root, -kRate / kCorrection1));
            return Tensors{param};
          });
  all.add("fused", "forward", [parameter = fresh(start, gradient)] {
    adamw_8bit(std::span(&parameter, 1), first_step());
    return Tensors{parameter.param};
  });
  all.exact = [start, gradient](const std::string&) {
    return Tensors{adamw_8bit_reference(fresh(start, gradient), kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1).param};
  };
  return all;
}

}  // namespace

extern const KernelCase kAdamw8bitCase;
constinit const KernelCase kAdamw8bitCase = {
    .id = "adamw_8bit",
    .inputs = &adamw_case::inputs,
    .forms = &adamw_8bit_forms,
    .odd_shapes = adamw_case::kOddShapes,
};

}  // namespace headroom::kernels
