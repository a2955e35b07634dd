// The norms on CPU and meta.
#include <ATen/Parallel.h>

#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("the norms equal hand-computed ones") {
  // x = (3, 4): mean square 12.5, root 3.535534; y = (3, 4) / 3.535534 times w = (1, 2).
  const at::Tensor x = at::tensor({3.0f, 4.0f}), w = at::tensor({1.0f, 2.0f}), b = at::tensor({10.0f, 20.0f});
  const kernels::RmsNormOut rms = kernels::rms_norm_forward(x, w, 0);
  CHECK(rms.rstd.item<float>() == Approx(0.2828427));
  CHECK(rms.y[0].item<float>() == Approx(0.8485281));
  CHECK(rms.y[1].item<float>() == Approx(2.2627417));
  // Mean 3.5, standard deviation ½: (−1, 1) times w plus b.
  const kernels::LayerNormOut layer = kernels::layer_norm_forward(x, w, b, 0);
  CHECK(layer.mean.item<float>() == Approx(3.5));
  CHECK(layer.y[0].item<float>() == Approx(9));
  CHECK(layer.y[1].item<float>() == Approx(22));
  CHECK(kernels::rms_norm_reference(x, w, 0)[1].item<double>() == Approx(2.262741699797));
  CHECK(kernels::layer_norm_reference(x, w, b, 0)[0].item<double>() == Approx(9));
}

TEST_CASE("the number of threads does not change the gradients' bits") {
  const at::Tensor x = at::randn({513, 2048}), w = at::randn({2048}), dy = at::randn({513, 2048});
  const at::Tensor rstd = kernels::rms_norm_forward(x, w, 1e-5).rstd;
  const int threads = at::get_num_threads();
  const auto dweight = [&](int count) {
    at::set_num_threads(count);
    return kernels::rms_norm_backward(dy, x, w, rstd, {}, false).dweight;
  };
  const at::Tensor alone = dweight(1), together = dweight(3);
  at::set_num_threads(threads);
  CHECK(tests::same_bits(alone, together));
}

TEST_CASE("backward works if only one result of add_rms_norm is used") {
  // Only one result is used; the other's gradient is undefined.
  const at::AutoGradMode grad_mode(true);
  const at::Tensor w = at::ones({8});
  for (const bool through_y : {true, false}) {
    const at::Tensor x = at::randn({4, 8}).requires_grad_(true), residual = at::randn({4, 8}).requires_grad_(true);
    const auto [sum, y] = kernels::add_rms_norm(x, residual, w, 1e-5);
    (through_y ? y : sum).sum().backward();
    CHECK(x.grad().equal(residual.grad()));
    CHECK(x.grad().equal(at::ones({4, 8})) == !through_y);
  }
}

TEST_CASE("the norms refuse tensors that do not fit each other") {
  const at::Tensor x = at::zeros({4, 6}), w = at::zeros({6});
  CHECK_THROWS(kernels::rms_norm_forward(x, at::zeros({4}), 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(x, at::zeros({6}, at::kBFloat16), 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(at::zeros({6, 4}).t(), w, 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(at::zeros({4, 6}, at::kDouble), at::zeros({6}, at::kDouble), 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(at::zeros({4, 0}), at::zeros({0}), 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(x, at::zeros({6}, at::TensorOptions().device(at::kMeta)), 1e-5));
  CHECK_THROWS(kernels::rms_norm_forward(x, at::Tensor(), 1e-5));
  CHECK_THROWS(kernels::add_rms_norm_forward(x, at::zeros({4, 5}), w, 1e-5));
  CHECK_THROWS(kernels::layer_norm_forward(x, w, at::zeros({5}), 1e-5));
  const at::Tensor rstd = at::zeros({4});
  CHECK_THROWS(kernels::rms_norm_backward(at::zeros({4, 5}), x, w, rstd, {}, false));
  CHECK_THROWS(kernels::rms_norm_backward(x, x, w, at::zeros({3}), {}, false));
  CHECK_THROWS(kernels::rms_norm_backward(x, x, w, rstd, at::zeros({5, 6}), false));
  CHECK_THROWS(kernels::layer_norm_backward(x, x, w, at::zeros({3}), rstd, false));
}

TEST_CASE("the norms allocate the same on meta as on other devices") {
  const auto options = at::TensorOptions().device(at::kMeta).dtype(at::kBFloat16);
  const at::Tensor x = at::empty({4, 6}, options), w = at::empty({6}, options);
  const kernels::RmsNormOut rms = kernels::rms_norm_forward(x, w, 1e-5);
  CHECK(rms.y.nbytes() == 48);
  CHECK(rms.rstd.nbytes() == 16);
  CHECK(kernels::rms_norm_backward(x, x, w, rms.rstd, x, true).dx.is_same(x));
  CHECK(kernels::add_rms_norm_forward(x, x, w, 1e-5).sum.nbytes() == 48);
  const kernels::LayerNormOut layer = kernels::layer_norm_forward(x, w, w, 1e-5);
  CHECK(kernels::layer_norm_backward(x, x, w, layer.mean, layer.rstd, false).dbias.nbytes() == 12);
  CHECK(kernels::rms_norm(x, w, 1e-5).nbytes() == 48);
}
