// Kernel case of RoPE.
#include <algorithm>

#include "kernels/kernel_case.h"
#include "kernels/rope/rope_ops.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t width(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim) {
  return (heads + kv_heads) * head_dim;
}

constexpr Shape odd(std::int64_t batch, std::int64_t length, std::int64_t heads, std::int64_t kv_heads,
                    std::int64_t head_dim) {
  return {.rows = batch * length,
          .width = width(heads, kv_heads, head_dim),
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .batch = batch};
}
constexpr Shape kOddRopeShapes[] = {odd(1, 1, 1, 1, 2),     odd(2, 3, 1, 1, 6),    odd(3, 17, 5, 2, 64),
                                    odd(1, 7, 3, 1, 40),    odd(2, 9, 32, 8, 128), odd(2, 33, 24, 8, 16),
                                    odd(1, 5, 70, 10, 256), odd(2, 9, 6, 2, 96)};

at::Tensor eager_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor turned = at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
  return x * cos + turned * sin;
}

KernelInputs rope_inputs(const Shape& shape, const TensorMaker& make) {
  const std::int64_t B = std::max<std::int64_t>(1, shape.batch), T = shape.rows / B, D = shape.head_dim;
  const auto random = [&](std::int64_t heads) { return make.random({B, T, heads, D}); };
  const at::Tensor q = random(shape.heads), k = random(shape.kv_heads);
  return {.inputs = {q, k}, .upstream = {random(shape.heads), random(shape.kv_heads)}};
}

KernelForms rope_forms(const Shape& shape, const KernelInputs& in) {
  const at::Tensor& first = in.inputs[0];
  const std::int64_t T = first.size(1), D = shape.head_dim;
  const at::TensorOptions fp32 = first.options().dtype(at::kFloat);
  const at::Tensor frequencies = at::pow(500000.0, at::arange(0, D / 2, fp32) * (-2.0 / static_cast<double>(D)));
  const at::Tensor angles = at::outer(at::arange(0, T, fp32), frequencies);
  const at::Tensor cos_TD2 = angles.cos(), sin_TD2 = angles.sin();
  // Hugging Face's tables: both halves, in the model's type.
  const at::Tensor cos = at::cat({cos_TD2, cos_TD2}, -1).unsqueeze(1).to(first.scalar_type());
  const at::Tensor sin = at::cat({sin_TD2, sin_TD2}, -1).unsqueeze(1).to(first.scalar_type());
  KernelForms all;
  add_differentiated(
      all, "eager",
      [cos, sin](const Tensors& t) {
        return Tensors{eager_rope(t[0], cos, sin), eager_rope(t[1], cos, sin)};
      },
      in);
  // Rotates copies in place; rotations keep their norm, so repeated calls do not overflow.
  const auto turn = [cos_TD2, sin_TD2](const Tensors& qk, bool inverse) {
    rope_apply_(qk[0], qk[1], cos_TD2, sin_TD2, inverse);
    return qk;
  };
  const auto copies = [](const Tensors& of) { return Tensors{of[0].clone(), of[1].clone()}; };
  all.add("fused", "forward", [turn, own = copies(in.inputs)] { return turn(own, false); });
  all.add("fused", "backward", [turn, own = copies(in.upstream)] { return turn(own, true); });
  all.add("fused", "full", [turn, own = copies(in.inputs), gradients = copies(in.upstream)] {
    Tensors outputs = turn(own, false);
    for (const at::Tensor& gradient : turn(gradients, true)) outputs.push_back(gradient);
    return outputs;
  });
  const auto exact = [cos_TD2, sin_TD2](const Tensors& t) {
    return Tensors{rope_reference(t[0], cos_TD2, sin_TD2), rope_reference(t[1], cos_TD2, sin_TD2)};
  };
  all.exact = differentiated_exactly(exact, in);
  return all;
}

}  // namespace

extern const KernelCase kRopeCase;
constinit const KernelCase kRopeCase = {
    .id = "rope",
    .inputs = &rope_inputs,
    .forms = &rope_forms,
    .odd_shapes = kOddRopeShapes,
};

}  // namespace headroom::kernels
