// The norms on any device.
#include <limits>
#include <utility>

#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::Tensors;

constexpr double kNormEpsilon = 1e-5;

at::Tensor finite_or_nan(const at::Tensor& values) {
  return at::where(at::isfinite(values), values, at::full_like(values, std::numeric_limits<double>::quiet_NaN()));
}

Tensors full_pass(const kernels::KernelForms& forms) {
  for (const kernels::KernelForm& form : forms.forms)
    if (form.variant == "fused" && form.pass == "full") return form.call();
  return {};
}

}  // namespace

TEST_CASE("the norms treat NaN and infinity like float64") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* const norm : {"rms_norm", "add_rms_norm", "layer_norm"}) {
    const kernels::KernelCase& kernel = *kernels::find_case(norm);
    for (const std::int64_t width : {7, 256, 20'000}) {
      CAPTURE(norm, width);
      at::manual_seed(7);
      const kernels::Shape shape{.rows = 6, .width = width};
      const kernels::KernelInputs in = kernel.inputs(shape, {.device = tests::tested_device()});
      const at::Tensor& x = in.inputs[0];
      x[0][width / 2] = std::numeric_limits<float>::quiet_NaN();
      x[1][width / 2] = kInfinity;
      x[2][width / 2] = -kInfinity;
      x[3].zero_();
      in.upstream.back()[4][width / 2] = kInfinity;
      const kernels::KernelForms forms = kernel.forms(shape, in);
      const Tensors exact = forms.exact("full"), ours = full_pass(forms);
      REQUIRE(ours.size() == exact.size());
      for (std::size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(i);
        // ∞ − ∞ in a gradient depends on the order of terms, so only the places of non-finite numbers must agree.
        const bool gradient = i >= in.upstream.size();
        CHECK(tests::same_kind(gradient ? finite_or_nan(ours[i]) : ours[i],
                               gradient ? finite_or_nan(exact[i]) : exact[i], 1e-4));
      }
    }
  }
}

TEST_CASE("the norms give the same bits in every form") {
  for (const auto& [type, width] :
       {std::pair{at::kFloat, 777}, {at::kBFloat16, 512}, {at::kBFloat16, 777}, {at::kHalf, 777}}) {
    CAPTURE(c10::toString(type), width);
    const auto random = [&, type = type](at::IntArrayRef shape) {
      return tests::random_at(shape, 1, 0, type, tests::tested_device());
    };
    const at::Tensor x = random({50, width}), w = random({width}), b = random({width}), d_sum = random({50, width});
    const kernels::RmsNormOut rms = kernels::rms_norm_forward(x, w, kNormEpsilon);
    CHECK(tests::same_bits(kernels::rms_norm_rebuild(x, w, rms.rstd), rms.y));

    const at::Tensor residual = random({50, width});
    const kernels::AddRmsNormOut added = kernels::add_rms_norm_forward(x, residual, w, kNormEpsilon);
    CHECK(tests::same_bits(added.sum, x + residual));
    CHECK(tests::same_bits(added.y, kernels::rms_norm_forward(added.sum, w, kNormEpsilon).y));

    const at::Tensor dy = random({50, width}), dy_lost = dy.clone(), dy_lost_too = dy.clone();
    const kernels::NormGradients plain = kernels::rms_norm_backward(dy, x, w, rms.rstd, d_sum, false);
    const kernels::NormGradients over = kernels::rms_norm_backward(dy_lost, x, w, rms.rstd, d_sum, true);
    CHECK(over.dx.is_same(dy_lost));
    CHECK(tests::same_bits(over.dx, plain.dx));
    CHECK(tests::same_bits(over.dweight, plain.dweight));
    const at::Tensor without = kernels::rms_norm_backward(dy, x, w, rms.rstd, {}, false).dx;
    CHECK(tests::relative_error(plain.dx, without.to(at::kDouble) + d_sum.to(at::kDouble)) < 1e-2);

    const kernels::LayerNormOut layer = kernels::layer_norm_forward(x, w, b, kNormEpsilon);
    const kernels::NormGradients beside = kernels::layer_norm_backward(dy, x, w, layer.mean, layer.rstd, false);
    const kernels::NormGradients in_place =
        kernels::layer_norm_backward(dy_lost_too, x, w, layer.mean, layer.rstd, true);
    CHECK(in_place.dx.is_same(dy_lost_too));
    CHECK(tests::same_bits(in_place.dx, beside.dx));
    CHECK(tests::same_bits(in_place.dbias, beside.dbias));
  }
}

TEST_CASE("the norms accept zero rows") {
  const auto options = at::TensorOptions().device(tests::tested_device());
  const at::Tensor x = at::empty({0, 16}, options), w = at::ones({16}, options);
  const kernels::RmsNormOut out = kernels::rms_norm_forward(x, w, kNormEpsilon);
  CHECK(out.y.sizes() == x.sizes());
  const kernels::NormGradients rms = kernels::rms_norm_backward(x, x, w, out.rstd, {}, false);
  CHECK(rms.dweight.equal(at::zeros({16}, options)));
  const kernels::NormGradients layer = kernels::layer_norm_backward(x, x, w, out.rstd, out.rstd, false);
  CHECK(layer.dbias.equal(at::zeros({16}, options)));
}
