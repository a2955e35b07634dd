// The norms three ways: float64, our kernels, PyTorch's operators.
#include "tests/kernels/norm_checks.h"

#include <limits>

#include <torch/csrc/autograd/autograd.h>

#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

namespace headroom::test {

namespace {

constexpr double kEpsilon = 1e-5;

using Tensors = std::vector<at::Tensor>;

at::Tensor weight_at(std::int64_t width, std::int64_t offset, at::ScalarType type, at::Device device) {
  return random_at({width}, 0.3, offset, type, device).add_(1);
}

constexpr NormOps kNorms[] = {
    {.name = "rms_norm",
     .make_inputs =
         [](std::int64_t rows, std::int64_t width, std::int64_t offset, at::ScalarType type, at::Device device) {
           return Tensors{random_at({rows, width}, 1, offset, type, device), weight_at(width, offset, type, device)};
         },
     .kernel = [](const Tensors& t) { return Tensors{kernels::rms_norm(t[0], t[1], kEpsilon)}; },
     .torch = [](const Tensors& t) { return Tensors{at::rms_norm(t[0], t[1].sizes(), t[1], kEpsilon)}; },
     .reference = [](const Tensors& t) { return Tensors{kernels::rms_norm_reference(t[0], t[1], kEpsilon)}; }},
    {.name = "add_rms_norm",
     .make_inputs =
         [](std::int64_t rows, std::int64_t width, std::int64_t offset, at::ScalarType type, at::Device device) {
           return Tensors{random_at({rows, width}, 1, offset, type, device),
                          random_at({rows, width}, 1, offset, type, device), weight_at(width, offset, type, device)};
         },
     .kernel =
         [](const Tensors& t) {
           const auto [sum, y] = kernels::add_rms_norm(t[0], t[1], t[2], kEpsilon);
           return Tensors{sum, y};
         },
     .torch =
         [](const Tensors& t) {
           const at::Tensor sum = t[0] + t[1];
           return Tensors{sum, at::rms_norm(sum, t[2].sizes(), t[2], kEpsilon)};
         },
     .reference =
         [](const Tensors& t) {
           const auto [sum, y] = kernels::add_rms_norm_reference(t[0], t[1], t[2], kEpsilon);
           return Tensors{sum, y};
         }},
    {.name = "layer_norm",
     .make_inputs =
         [](std::int64_t rows, std::int64_t width, std::int64_t offset, at::ScalarType type, at::Device device) {
           return Tensors{random_at({rows, width}, 1, offset, type, device).add_(3),  // a mean to be taken away
                          weight_at(width, offset, type, device), random_at({width}, 1, offset, type, device)};
         },
     .kernel = [](const Tensors& t) { return Tensors{kernels::layer_norm(t[0], t[1], t[2], kEpsilon)}; },
     .torch = [](const Tensors& t) { return Tensors{at::layer_norm(t[0], t[1].sizes(), t[1], t[2], kEpsilon)}; },
     .reference = [](const Tensors& t) { return Tensors{kernels::layer_norm_reference(t[0], t[1], t[2], kEpsilon)}; }},
};

Tensors to_double(const Tensors& values) {
  Tensors made;
  for (const at::Tensor& value : values) made.push_back(value.to(at::kCPU).to(at::kDouble));
  return made;
}

// The results, then the gradients of the inputs for the given gradients of the results.
template <typename Norm>
Tensors forward_backward(const Norm& norm, const Tensors& inputs, const Tensors& upstream) {
  const at::AutoGradMode grad_mode(true);
  Tensors leaves;
  for (const at::Tensor& input : inputs) leaves.push_back(input.detach().requires_grad_(true));
  Tensors all = norm(leaves);
  for (const at::Tensor& gradient : torch::autograd::grad(all, leaves, upstream)) all.push_back(gradient);
  return all;
}

at::Tensor finite_or_nan(const at::Tensor& values) {
  return at::where(at::isfinite(values), values, at::full_like(values, std::numeric_limits<double>::quiet_NaN()));
}

struct NormCase {
  Tensors inputs, upstream;
};

NormCase make_case(const NormOps& ops, std::int64_t rows, std::int64_t width, std::int64_t offset, at::ScalarType type,
                   at::Device device) {
  at::manual_seed(7);
  NormCase made{.inputs = ops.make_inputs(rows, width, offset, type, device), .upstream = {}};
  const std::size_t results = std::string_view(ops.name) == "add_rms_norm" ? 2 : 1;
  for (std::size_t i = 0; i < results; ++i) made.upstream.push_back(random_at({rows, width}, 1, offset, type, device));
  return made;
}

}  // namespace

std::span<const NormOps> norm_ops() { return kNorms; }

void check_norm_errors(const NormOps& ops, at::Device device) {
  // One row, one column; not a whole vector; not a whole warp; more rows than blocks; more than registers hold.
  constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {
      {1, 1},      {1, 8},     {5, 7},    {3, 40},    {700, 16},  {17, 257},   {9, 3072},  {130, 1000},
      {301, 2048}, {33, 4096}, {7, 8192}, {5, 16384}, {3, 16392}, {2, 33'333}, {2, 40'960}};
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    for (const auto& [rows, width] : kSizes) {
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(ops.name, type, rows, width, offset);
        const NormCase c = make_case(ops, rows, width, offset, type, device);
        const Tensors exact = forward_backward(ops.reference, to_double(c.inputs), to_double(c.upstream));
        const Tensors ours = forward_backward(ops.kernel, c.inputs, c.upstream);
        const Tensors theirs = forward_backward(ops.torch, c.inputs, c.upstream);
        for (std::size_t i = 0; i < exact.size(); ++i) {
          CAPTURE(i);
          CHECK(ours[i].scalar_type() == type);
          if (width == 1 && !exact[i].any().item<bool>()) {  // LayerNorm of one column: all terms of dx cancel
            CHECK(ours[i].abs().max().item<double>() < 1e-3);
            continue;
          }
          CHECK(relative_error(ours[i], exact[i]) <= 2 * relative_error(theirs[i], exact[i]) + kFloor);
        }
      }
    }
  }
}

void check_norm_extremes(const NormOps& ops, at::Device device) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t width : {7, 256, 20'000}) {
    CAPTURE(ops.name, width);
    NormCase c = make_case(ops, 6, width, 0, at::kFloat, device);
    const at::Tensor& x = c.inputs[0];
    x[0][width / 2] = std::numeric_limits<float>::quiet_NaN();
    x[1][width / 2] = kInfinity;
    x[2][width / 2] = -kInfinity;
    x[3].zero_();
    c.upstream.back()[4][width / 2] = kInfinity;
    const Tensors exact = forward_backward(ops.reference, to_double(c.inputs), to_double(c.upstream));
    const Tensors ours = forward_backward(ops.kernel, c.inputs, c.upstream);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      CAPTURE(i);
      // In a gradient ∞ − ∞ depends on the order of the terms: what is not finite need only be where it is.
      const bool gradient = i >= c.upstream.size();
      CHECK(
          same_kind(gradient ? finite_or_nan(ours[i]) : ours[i], gradient ? finite_or_nan(exact[i]) : exact[i], 1e-4));
    }
  }
}

void check_norm_repeats(const NormOps& ops, at::Device device) {
  for (const auto& [rows, width] : {std::pair<std::int64_t, std::int64_t>{900, 1024}, {61, 777}, {40, 16384}}) {
    CAPTURE(ops.name, rows, width);
    const NormCase c = make_case(ops, rows, width, 0, at::kBFloat16, device);
    const Tensors first = forward_backward(ops.kernel, c.inputs, c.upstream);
    const Tensors second = forward_backward(ops.kernel, c.inputs, c.upstream);
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(same_bits(first[i], second[i]));
  }
}

void check_norm_forms(at::Device device) {
  for (const std::int64_t width : {512, 777}) {
    CAPTURE(width);
    const auto random = [&](at::IntArrayRef shape) { return random_at(shape, 1, 0, at::kBFloat16, device); };
    const at::Tensor x = random({50, width}), w = random({width}), b = random({width}), d_sum = random({50, width});
    const kernels::RmsNormOut rms = kernels::rms_norm_forward(x, w, kEpsilon);
    CHECK(same_bits(kernels::rms_norm_rebuild(x, w, rms.rstd), rms.y));

    const at::Tensor residual = random({50, width});
    const kernels::AddRmsNormOut added = kernels::add_rms_norm_forward(x, residual, w, kEpsilon);
    CHECK(same_bits(added.sum, x + residual));
    CHECK(same_bits(added.y, kernels::rms_norm_forward(added.sum, w, kEpsilon).y));

    const at::Tensor dy = random({50, width}), dy_lost = dy.clone(), dy_lost_too = dy.clone();
    const kernels::NormGradients plain = kernels::rms_norm_backward(dy, x, w, rms.rstd, d_sum, false);
    const kernels::NormGradients over = kernels::rms_norm_backward(dy_lost, x, w, rms.rstd, d_sum, true);
    CHECK(over.dx.is_same(dy_lost));
    CHECK(same_bits(over.dx, plain.dx));
    CHECK(same_bits(over.dweight, plain.dweight));
    const at::Tensor without = kernels::rms_norm_backward(dy, x, w, rms.rstd, {}, false).dx;
    CHECK(relative_error(plain.dx, without.to(at::kDouble) + d_sum.to(at::kDouble)) < 1e-2);

    const kernels::LayerNormOut layer = kernels::layer_norm_forward(x, w, b, kEpsilon);
    const kernels::NormGradients beside = kernels::layer_norm_backward(dy, x, w, layer.mean, layer.rstd, false);
    const kernels::NormGradients in_place =
        kernels::layer_norm_backward(dy_lost_too, x, w, layer.mean, layer.rstd, true);
    CHECK(in_place.dx.is_same(dy_lost_too));
    CHECK(same_bits(in_place.dx, beside.dx));
    CHECK(same_bits(in_place.dbias, beside.dbias));
  }
}

void check_norm_empty(at::Device device) {
  const auto options = at::TensorOptions().device(device);
  const at::Tensor x = at::empty({0, 16}, options), w = at::ones({16}, options);
  const kernels::RmsNormOut out = kernels::rms_norm_forward(x, w, kEpsilon);
  CHECK(out.y.sizes() == x.sizes());
  const kernels::NormGradients rms = kernels::rms_norm_backward(x, x, w, out.rstd, {}, false);
  CHECK(rms.dweight.equal(at::zeros({16}, options)));
  const kernels::NormGradients layer = kernels::layer_norm_backward(x, x, w, out.rstd, out.rstd, false);
  CHECK(layer.dbias.equal(at::zeros({16}, options)));
}

}  // namespace headroom::test
