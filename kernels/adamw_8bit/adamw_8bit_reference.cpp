// The dynamic maps decoded bit by bit, and AdamW on dequantized state, in float64.
#include <cmath>

#include "kernels/adamw_8bit/adamw_8bit_ops.h"

namespace headroom::kernels {

at::Tensor dynamic_map_reference(bool is_signed) {
  const at::Tensor map = at::zeros({256}, at::kDouble);
  auto* const values = map.data_ptr<double>();
  for (int code = 0; code < 256; ++code) {
    int bit = 7;
    const double sign = is_signed && (code >> bit-- & 1) ? -1 : 1;
    int zeros = 0;
    while (bit >= 0 && (code >> bit & 1) == 0) ++zeros, --bit;
    if (zeros == 7 || bit < 0) {  // no indicator bit: the two extra values
      const bool one = is_signed ? sign < 0 : code == 1;
      values[code] = one ? 1 : 0;
      continue;
    }
    double low = 0.1, high = 1;  // each bit after the indicator halves the interval
    for (--bit; bit >= 0; --bit) ((code >> bit & 1) != 0 ? low : high) = (low + high) / 2;
    values[code] = sign * std::pow(10.0, -zeros) * (low + high) / 2;
  }
  return map;
}

AdamWReference adamw_8bit_reference(const AdamW8bitParameter& p, double learning_rate, double beta1, double beta2,
                                    double epsilon, double weight_decay, std::int64_t t) {
  const auto moment = [&](const at::Tensor& codes, const at::Tensor& absmax, bool is_signed) {
    const at::Tensor map = dynamic_map_reference(is_signed).to(p.param.device());
    const at::Tensor scales = absmax.to(at::kDouble).repeat_interleave(kQuantisedBlock);
    return (map.index({codes.to(at::kLong)}) * scales.narrow(0, 0, codes.numel())).view(p.param.sizes());
  };
  return adamw_reference(p.param, p.gradient, moment(p.m_codes, p.m_absmax, true), moment(p.v_codes, p.v_absmax, false),
                         learning_rate, beta1, beta2, epsilon, weight_decay, t);
}

}  // namespace headroom::kernels
