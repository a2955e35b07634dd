// What works on weights in few bits: AdamW with 8-bit moments, and NF4's dequantization.
#include <cmath>
#include <iterator>
#include <span>
#include <tuple>
#include <vector>

#include "demos/engine/experiments/bench_subjects.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/nf4/nf4_ops.h"

namespace headroom::experiments {

namespace {

using Tensors = std::vector<at::Tensor>;

// A moment in 8 bits by PyTorch's operators: whole blocks, zeros behind the last weight.
class EagerMoment {
 public:
  EagerMoment(std::int64_t n, bool is_signed, at::Device device)
      : n_(n),
        blocks_(kernels::quantised_blocks(n)),
        map_(kernels::dynamic_map_reference(is_signed).to(device, at::kFloat)) {
    std::tie(sorted_, order_) = at::sort(map_);
    middle_ = (sorted_.narrow(0, 1, 255) + sorted_.narrow(0, 0, 255)) / 2;
    order_ = order_.to(at::kByte);
    write(at::zeros({n}, map_.options()));
  }
  at::Tensor read() const {
    const at::Tensor values = map_.index_select(0, codes_.to(at::kInt)).view({blocks_, kernels::kQuantisedBlock});
    return (values * absmax_.unsqueeze(1)).flatten().narrow(0, 0, n_);
  }
  void write(const at::Tensor& moment) {
    const std::int64_t whole = blocks_ * kernels::kQuantisedBlock;
    const at::Tensor x = at::constant_pad_nd(moment, {0, whole - n_}).view({blocks_, kernels::kQuantisedBlock});
    absmax_ = x.abs().amax(1);
    const at::Tensor share = x / absmax_.clamp_min(1e-30).unsqueeze(1);
    codes_ = order_.index_select(0, at::bucketize(share, middle_, /*out_int32=*/true).flatten());
  }

 private:
  std::int64_t n_, blocks_;
  at::Tensor map_, sorted_, order_,
      middle_;  // the codes' values; in order, and whose they are; where the nearest changes
  at::Tensor codes_, absmax_;
};

// `type` is that of the arithmetic, and of what comes out.
at::Tensor composed_nf4(const kernels::Nf4Matrix& matrix, std::int64_t n, at::ScalarType type, at::ScalarType in) {
  const at::TensorOptions options = matrix.absmax_scale.options().dtype(in);
  const std::vector<double> published(std::begin(kernels::kNf4Levels), std::end(kernels::kNf4Levels));
  const at::Tensor levels = at::tensor(published, at::kDouble).to(options);
  const at::Tensor map = kernels::dynamic_map_reference(/*is_signed=*/true).to(options);
  const at::Tensor scale = matrix.absmax_scale.to(in).repeat_interleave(kernels::kNf4ScaleBlock);
  const std::int64_t blocks = matrix.absmax_codes.numel();
  const at::Tensor deviation = map.index_select(0, matrix.absmax_codes.to(at::kInt)) * scale.narrow(0, 0, blocks);
  const at::Tensor absmax = (matrix.absmax_mean.to(in) + deviation).repeat_interleave(kernels::kNf4Block);
  const at::Tensor pairs = at::stack({matrix.codes.bitwise_right_shift(4), matrix.codes.bitwise_and(15)}, 1);
  const at::Tensor codes = pairs.flatten().narrow(0, 0, n).to(at::kInt);
  return (levels.index_select(0, codes) * absmax.narrow(0, 0, n)).to(type);
}

}  // namespace

BenchSubjects adamw_8bit_subjects(const BenchCase& one, at::Device device) {
  constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kDecay = 0.1;
  const std::int64_t n = one.width;
  const at::Tensor start = bench_random({n}, type_of(one), device), gradient = bench_random({n}, type_of(one), device);
  const auto fresh = [=] {
    const at::Tensor zero = at::zeros({n}, start.options().dtype(at::kFloat));
    const kernels::BlockQuantised m = kernels::quantise_blockwise(zero, /*is_signed=*/true);
    const kernels::BlockQuantised v = kernels::quantise_blockwise(zero, /*is_signed=*/false);
    return kernels::AdamW8bitParameter{.param = start.clone(),
                                       .gradient = gradient,
                                       .m_codes = m.codes,
                                       .m_absmax = m.absmax,
                                       .v_codes = v.codes,
                                       .v_absmax = v.absmax};
  };
  BenchSubjects all;
  all.graphs = false;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  const double correction1 = 1 - kBeta1, correction2 = 1 - kBeta2;  // of the first step
  all.subjects.push_back({"eager", "forward",
                          [=, param = start.clone(), first = EagerMoment(n, true, device),
                           second = EagerMoment(n, false, device)]() mutable {
                            const at::Tensor g = gradient.to(at::kFloat);
                            const at::Tensor m = first.read().lerp_(g, 1 - kBeta1);
                            const at::Tensor v = second.read().mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
                            first.write(m);
                            second.write(v);
                            const at::Tensor root = (v.sqrt() / std::sqrt(correction2)).add_(kEpsilon);
                            param.copy_(
                                param.to(at::kFloat).mul_(1 - kRate * kDecay).addcdiv_(m, root, -kRate / correction1));
                            return Tensors{param};
                          }});
  all.subjects.push_back({"fused", "forward", [=, parameter = fresh()] {
                            kernels::adamw_8bit(
                                std::span(&parameter, 1),
                                kernels::adamw_step_constants(kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1));
                            return Tensors{parameter.param};
                          }});
  all.reference = [=](const std::string&) {
    return Tensors{kernels::adamw_8bit_reference(fresh(), kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1).param};
  };
  return all;
}

BenchSubjects nf4_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const std::int64_t n = one.width;
  const kernels::Nf4Matrix matrix = kernels::nf4_quantise(bench_random({n}, type, device).mul_(0.02));
  BenchSubjects all;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  all.subjects.push_back({"eager", "forward", [=] { return Tensors{composed_nf4(matrix, n, type, at::kFloat)}; }});
  all.subjects.push_back({"fused", "forward", [=] { return Tensors{kernels::nf4_dequantise(matrix, type)}; }});
  all.reference = [=](const std::string&) { return Tensors{composed_nf4(matrix, n, at::kDouble, at::kDouble)}; };
  return all;
}

}  // namespace headroom::experiments
