// Norms, RoPE, gated units, and what all families share.
#include "demos/engine/experiments/bench_subjects.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/geglu/geglu_ops.h"
#include "kernels/kernel.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/rope/rope_ops.h"
#include "kernels/swiglu/swiglu_ops.h"

namespace headroom::experiments {

namespace {

using Tensors = std::vector<at::Tensor>;
using Call = std::function<Tensors()>;

constexpr double kEpsilon = 1e-5;

std::int64_t bytes_of_element(const BenchCase& one) { return one.storage == "fp32" ? 4 : 2; }

// As the Hugging Face model computes it, operator by operator.
at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight_H) {
  const at::Tensor x_fp32 = x.to(at::kFloat);
  const at::Tensor mean_square = x_fp32.pow(2).mean(-1, /*keepdim=*/true);
  return weight_H * (x_fp32 * at::rsqrt(mean_square + kEpsilon)).to(x.scalar_type());
}

at::Tensor eager_layer_norm(const at::Tensor& x, const at::Tensor& weight_H, const at::Tensor& bias_H) {
  const at::Tensor x_fp32 = x.to(at::kFloat);
  const at::Tensor centred = x_fp32 - x_fp32.mean(-1, /*keepdim=*/true);
  const at::Tensor variance = centred.pow(2).mean(-1, /*keepdim=*/true);
  return weight_H * (centred * at::rsqrt(variance + kEpsilon)).to(x.scalar_type()) + bias_H;
}

at::Tensor eager_rope(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor turned = at::cat({-x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
  return x * cos + turned * sin;
}

// Forward, backward on a graph that is kept, and both, of a composition that autograd differentiates.
void add_differentiated(BenchSubjects& to, const std::string& variant, std::function<Tensors(const Tensors&)> compute,
                        const Tensors& inputs, const Tensors& upstream) {
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(leaf(input));
  to.subjects.push_back({variant, "forward", [compute, inputs] {
                           const at::NoGradGuard no_gradients;
                           return compute(inputs);
                         }});
  // The graph is made by the first call: until then it would count as an input of the other passes.
  to.subjects.push_back({variant, "backward", [compute, leaves, upstream, kept = std::make_shared<Tensors>()] {
                           if (kept->empty()) *kept = compute(leaves);
                           return torch::autograd::grad(*kept, leaves, upstream, /*retain_graph=*/true);
                         }});
  to.subjects.push_back(
      {variant, "full", [compute, leaves, upstream] { return with_gradients(compute(leaves), leaves, upstream); }});
}

// The float64 composition gives outputs and gradients alike.
std::function<Tensors(const std::string&)> reference_by(std::function<Tensors(const Tensors&)> compute,
                                                        const Tensors& inputs, const Tensors& upstream) {
  return [=](const std::string& pass) {
    Tensors leaves, upstream_fp64;
    for (const at::Tensor& input : inputs) leaves.push_back(leaf(input.to(at::kDouble)));
    for (const at::Tensor& dy : upstream) upstream_fp64.push_back(dy.to(at::kDouble));
    const Tensors outputs = compute(leaves);
    if (pass == "forward") return outputs;
    Tensors all = with_gradients(outputs, leaves, upstream_fp64);
    if (pass == "backward") all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs.size()));
    return all;
  };
}

void add(BenchSubjects& to, const char* variant, const char* pass, Call call) {
  to.subjects.push_back({variant, pass, std::move(call)});
}

}  // namespace

at::ScalarType type_of(const BenchCase& one) {
  if (one.storage == "bf16") return at::kBFloat16;
  return one.storage == "fp16" ? at::kHalf : at::kFloat;
}

at::Tensor bench_random(at::IntArrayRef sizes, at::ScalarType type, at::Device device) {
  return at::randn(sizes, at::TensorOptions().device(device).dtype(type));
}

at::Tensor leaf(const at::Tensor& tensor) { return tensor.detach().requires_grad_(); }

Tensors with_gradients(const Tensors& outputs, const Tensors& inputs, const Tensors& upstream) {
  Tensors all = outputs;
  for (at::Tensor& gradient : torch::autograd::grad(outputs, inputs, upstream)) all.push_back(std::move(gradient));
  return all;
}

BenchWork work_of(const BenchCase& one, const std::string& pass) {
  const kernels::KernelInfo* kernel = kernels::find_kernel(one.kernel);
  const kernels::Shape shape{.rows = one.rows, .width = one.width, .vocab = one.vocab};
  BenchWork work;
  const auto take = [&](kernels::Pass each) {
    work.bytes += kernel->bytes(shape, each, bytes_of_element(one));
    work.flops += static_cast<double>(kernel->flops(shape, each));
  };
  if (pass != "backward") take(kernels::Pass::kForward);
  if (pass != "forward") take(kernels::Pass::kBackward);
  return work;
}

BenchSubjects norm_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const std::int64_t H = one.width;
  const at::Tensor x = bench_random({one.rows, H}, type, device), dy = bench_random({one.rows, H}, type, device);
  const at::Tensor w = (1 + 0.1 * bench_random({H}, at::kFloat, device)).to(type);
  const at::Tensor b = (0.1 * bench_random({H}, at::kFloat, device)).to(type);
  BenchSubjects all;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  if (one.kernel == "rms_norm") {
    const Tensors inputs{x, w}, upstream{dy};
    const auto eager = [](const Tensors& in) { return Tensors{eager_rms_norm(in[0], in[1])}; };
    const auto library = [H](const Tensors& in) { return Tensors{at::rms_norm(in[0], {H}, in[1], kEpsilon)}; };
    add_differentiated(all, "eager", eager, inputs, upstream);
    add_differentiated(all, "library", library, inputs, upstream);
    add(all, "fused", "forward", [=] { return Tensors{kernels::rms_norm_forward(x, w, kEpsilon).y}; });
    const at::Tensor rstd = kernels::rms_norm_forward(x, w, kEpsilon).rstd;
    add(all, "fused", "backward", [=] {
      const auto out = kernels::rms_norm_backward(dy, x, w, rstd, {}, /*overwrite_dy=*/false);
      return Tensors{out.dx, out.dweight};
    });
    add(all, "fused", "full", [x = leaf(x), w = leaf(w), dy] {
      return with_gradients({kernels::rms_norm(x, w, kEpsilon)}, {x, w}, {dy});
    });
    const auto exact = [](const Tensors& in) { return Tensors{kernels::rms_norm_reference(in[0], in[1], kEpsilon)}; };
    all.reference = reference_by(exact, inputs, upstream);
  } else if (one.kernel == "add_rms_norm") {
    const at::Tensor r = bench_random({one.rows, H}, type, device), ds = bench_random({one.rows, H}, type, device);
    const Tensors inputs{x, r, w}, upstream{ds, dy};
    const auto eager = [](const Tensors& in) {
      const at::Tensor sum = in[0] + in[1];
      return Tensors{sum, eager_rms_norm(sum, in[2])};
    };
    const auto library = [H](const Tensors& in) {
      const at::Tensor sum = in[0] + in[1];
      return Tensors{sum, at::rms_norm(sum, {H}, in[2], kEpsilon)};
    };
    add_differentiated(all, "eager", eager, inputs, upstream);
    add_differentiated(all, "library", library, inputs, upstream);
    add(all, "fused", "forward", [=] {
      const auto out = kernels::add_rms_norm_forward(x, r, w, kEpsilon);
      return Tensors{out.sum, out.y};
    });
    const auto kept = kernels::add_rms_norm_forward(x, r, w, kEpsilon);
    add(all, "fused", "backward", [dy, ds, w, sum = kept.sum, rstd = kept.rstd] {
      const auto out = kernels::rms_norm_backward(dy, sum, w, rstd, ds, /*overwrite_dy=*/false);
      return Tensors{out.dx, out.dx, out.dweight};
    });
    add(all, "fused", "full", [x = leaf(x), r = leaf(r), w = leaf(w), dy, ds] {
      const auto [sum, y] = kernels::add_rms_norm(x, r, w, kEpsilon);
      return with_gradients({sum, y}, {x, r, w}, {ds, dy});
    });
    const auto exact = [](const Tensors& in) {
      const auto [sum, y] = kernels::add_rms_norm_reference(in[0], in[1], in[2], kEpsilon);
      return Tensors{sum, y};
    };
    all.reference = reference_by(exact, inputs, upstream);
  } else {
    const Tensors inputs{x, w, b}, upstream{dy};
    const auto eager = [](const Tensors& in) { return Tensors{eager_layer_norm(in[0], in[1], in[2])}; };
    const auto library = [H](const Tensors& in) { return Tensors{at::layer_norm(in[0], {H}, in[1], in[2], kEpsilon)}; };
    add_differentiated(all, "eager", eager, inputs, upstream);
    add_differentiated(all, "library", library, inputs, upstream);
    add(all, "fused", "forward", [=] { return Tensors{kernels::layer_norm_forward(x, w, b, kEpsilon).y}; });
    const auto kept = kernels::layer_norm_forward(x, w, b, kEpsilon);
    add(all, "fused", "backward", [dy, x, w, mean = kept.mean, rstd = kept.rstd] {
      const auto out = kernels::layer_norm_backward(dy, x, w, mean, rstd, /*overwrite_dy=*/false);
      return Tensors{out.dx, out.dweight, out.dbias};
    });
    add(all, "fused", "full", [x = leaf(x), w = leaf(w), b = leaf(b), dy] {
      return with_gradients({kernels::layer_norm(x, w, b, kEpsilon)}, {x, w, b}, {dy});
    });
    const auto exact = [](const Tensors& in) {
      return Tensors{kernels::layer_norm_reference(in[0], in[1], in[2], kEpsilon)};
    };
    all.reference = reference_by(exact, inputs, upstream);
  }
  return all;
}

BenchSubjects rope_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const std::int64_t T = one.rows, A = one.heads, K = one.kv_heads, D = one.head_dim;
  const at::Tensor q = bench_random({1, T, A, D}, type, device), k = bench_random({1, T, K, D}, type, device);
  const at::Tensor dq = bench_random({1, T, A, D}, type, device), dk = bench_random({1, T, K, D}, type, device);
  const at::TensorOptions fp32 = at::TensorOptions().device(device).dtype(at::kFloat);
  const at::Tensor frequencies = at::pow(500000.0, at::arange(0, D / 2, fp32) * (-2.0 / static_cast<double>(D)));
  const at::Tensor angles = at::outer(at::arange(0, T, fp32), frequencies);
  const at::Tensor cos_TD2 = angles.cos(), sin_TD2 = angles.sin();
  // Hugging Face's tables: both halves, of the model's type.
  const at::Tensor cos = at::cat({cos_TD2, cos_TD2}, -1).unsqueeze(1).to(type);
  const at::Tensor sin = at::cat({sin_TD2, sin_TD2}, -1).unsqueeze(1).to(type);
  BenchSubjects all;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  const auto eager = [cos, sin](const Tensors& in) {
    return Tensors{eager_rope(in[0], cos, sin), eager_rope(in[1], cos, sin)};
  };
  add_differentiated(all, "eager", eager, {q, k}, {dq, dk});
  // In place, on its own copies; rotation keeps their norm, so repeats do not overflow.
  const at::Tensor own_q = q.clone(), own_k = k.clone(), own_dq = dq.clone(), own_dk = dk.clone();
  const auto turn = [cos_TD2, sin_TD2](const at::Tensor& a, const at::Tensor& b, bool inverse) {
    kernels::rope_apply_(a, b, cos_TD2, sin_TD2, inverse);
    return Tensors{a, b};
  };
  add(all, "fused", "forward", [=] { return turn(own_q, own_k, false); });
  add(all, "fused", "backward", [=] { return turn(own_dq, own_dk, true); });
  add(all, "fused", "full", [turn, a = q.clone(), b = k.clone(), c = dq.clone(), d = dk.clone()] {
    Tensors outputs = turn(a, b, false);
    for (const at::Tensor& gradient : turn(c, d, true)) outputs.push_back(gradient);
    return outputs;
  });
  const auto exact = [cos_TD2, sin_TD2](const Tensors& in) {
    return Tensors{kernels::rope_reference(in[0], cos_TD2, sin_TD2), kernels::rope_reference(in[1], cos_TD2, sin_TD2)};
  };
  all.reference = reference_by(exact, {q, k}, {dq, dk});
  return all;
}

BenchSubjects gated_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const bool silu = one.kernel == "swiglu";
  const auto random = [&] { return bench_random({one.rows, one.width}, type, device); };
  const at::Tensor gate = random(), up = random(), dh = random();
  BenchSubjects all;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  const auto eager = [silu](const Tensors& in) {
    return Tensors{(silu ? at::silu(in[0]) : at::gelu(in[0], "tanh")) * in[1]};
  };
  add_differentiated(all, "eager", eager, {gate, up}, {dh});
  add(all, "fused", "forward",
      [=] { return Tensors{silu ? kernels::swiglu_forward(gate, up) : kernels::geglu_forward(gate, up)}; });
  add(all, "fused", "backward", [=] {
    const auto out = silu ? kernels::swiglu_backward(dh, gate, up, /*rebuild_h=*/false, /*in_place=*/false)
                          : kernels::geglu_backward(dh, gate, up, /*rebuild_h=*/false, /*in_place=*/false);
    return Tensors{out.dgate, out.dup};
  });
  add(all, "fused", "full", [silu, gate = leaf(gate), up = leaf(up), dh] {
    return with_gradients({silu ? kernels::swiglu(gate, up) : kernels::geglu(gate, up)}, {gate, up}, {dh});
  });
  const auto exact = [silu](const Tensors& in) {
    return Tensors{silu ? kernels::swiglu_reference(in[0], in[1]) : kernels::geglu_reference(in[0], in[1])};
  };
  all.reference = reference_by(exact, {gate, up}, {dh});
  return all;
}

// Three products around the gate: almost all of its time.
BenchSubjects mlp_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const bool silu = one.kernel == "swiglu";
  const std::int64_t H = one.hidden, F = one.width, B = one.batch, T = one.rows / std::max<std::int64_t>(1, one.batch);
  const double scale = 0.02;
  const at::Tensor x = bench_random({B, T, H}, type, device), dy = bench_random({B, T, H}, type, device);
  const at::Tensor gate = bench_random({F, H}, type, device).mul_(scale);
  const at::Tensor up = bench_random({F, H}, type, device).mul_(scale);
  const at::Tensor down = bench_random({H, F}, type, device).mul_(scale);
  BenchSubjects all;
  all.of_memory = all.graphs = false;
  all.work = [one](const std::string& pass) {
    const double forward = 6.0 * static_cast<double>(one.rows) * static_cast<double>(one.width * one.hidden);
    return BenchWork{.bytes = 0, .flops = forward * (pass == "forward" ? 1 : pass == "backward" ? 2 : 3)};
  };
  const auto mlp = [](const Tensors& in, const auto& product) {
    return Tensors{at::linear(product(at::linear(in[0], in[1]), at::linear(in[0], in[2])), in[3])};
  };
  const Tensors inputs{x, gate, up, down};
  add_differentiated(all, "eager",
                     [mlp, silu](const Tensors& in) {
                       return mlp(in, [silu](const at::Tensor& g, const at::Tensor& u) {
                         return (silu ? at::silu(g) : at::gelu(g, "tanh")) * u;
                       });
                     },
                     inputs, {dy});
  add_differentiated(all, "fused",
                     [mlp, silu](const Tensors& in) {
                       return mlp(in, [silu](const at::Tensor& g, const at::Tensor& u) {
                         return silu ? kernels::swiglu(g, u) : kernels::geglu(g, u);
                       });
                     },
                     inputs, {dy});
  return all;
}

BenchSubjects bench_subjects(const BenchCase& one, at::Device device) {
  at::manual_seed(1);
  if (one.kernel == "rope") return rope_subjects(one, device);
  if (one.kernel == "swiglu" || one.kernel == "geglu")
    return one.batch > 0 ? mlp_subjects(one, device) : gated_subjects(one, device);
  if (one.kernel == "cross_entropy") return cross_entropy_subjects(one, device);
  if (one.kernel == "fused_linear_cross_entropy") return linear_cross_entropy_subjects(one, device);
  if (one.kernel == "embedding_backward") return embedding_subjects(one, device);
  if (one.kernel == "adamw") return adamw_subjects(one, device);
  if (one.kernel == "adamw_8bit") return adamw_8bit_subjects(one, device);
  if (one.kernel == "nf4") return nf4_subjects(one, device);
  return norm_subjects(one, device);
}

}  // namespace headroom::experiments
