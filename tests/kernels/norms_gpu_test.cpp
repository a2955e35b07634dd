// The norms on a GPU.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/layer_norm/layer_norm_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("LayerNorm on a GPU agrees with float64 in rows that fit into registers and in wider ones") {
  const kernels::KernelCase& layer_norm = *kernels::find_case("layer_norm");
  for (const std::int64_t width : {8196, 12'288, 12'292, 16'384, 16'388}) {
    const kernels::Shape shape{.rows = 300, .width = width};  // several rows per block
    at::manual_seed(11);
    const kernels::KernelInputs in = layer_norm.inputs(shape, {.device = at::kCUDA});
    const kernels::KernelForms forms = layer_norm.forms(shape, in);
    const kernels::Tensors exact = forms.exact("full");
    for (const kernels::KernelForm& form : forms.forms) {
      if (form.variant != "fused" || form.pass != "full") continue;
      const kernels::Tensors ours = form.call();
      REQUIRE(ours.size() == exact.size());
      for (std::size_t i = 0; i < exact.size(); ++i) {
        CAPTURE(width, i);
        CHECK(kernels::relative_error(ours[i], exact[i]) < 1e-5);
      }
    }
  }
}

TEST_CASE("the norms can be captured in a CUDA graph and replayed") {
  const at::Tensor x = at::randn({300, 4096}, at::kCUDA), w = at::randn({4096}, at::kCUDA);
  const at::Tensor dy = at::randn({300, 4096}, at::kCUDA);
  const auto gradients = [&] {
    const kernels::LayerNormOut out = kernels::layer_norm_forward(x, w, w, 1e-5);
    return kernels::layer_norm_backward(dy, x, w, out.mean, out.rstd, false);
  };
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  const c10::cuda::CUDAStream before = c10::cuda::getCurrentCUDAStream();
  c10::cuda::device_synchronize();
  c10::cuda::setCurrentCUDAStream(stream);
  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  const kernels::NormGradients captured = gradients();
  graph.capture_end();
  x.normal_();
  graph.replay();
  stream.synchronize();
  c10::cuda::setCurrentCUDAStream(before);
  const kernels::NormGradients eager = gradients();
  CHECK(tests::same_bits(captured.dx, eager.dx));
  CHECK(tests::same_bits(captured.dweight, eager.dweight));
  CHECK(tests::same_bits(captured.dbias, eager.dbias));
}

TEST_CASE("the norms process more than 2^31 elements completely") {
  const std::int64_t rows = (std::int64_t{1} << 31) / 4096 + 3;
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kBFloat16);
  const at::Tensor x = at::empty({rows, 4096}, options).normal_(), w = at::empty({4096}, options).normal_();
  const kernels::RmsNormOut all = kernels::rms_norm_forward(x, w, 1e-5);
  const at::Tensor tail = x.narrow(0, rows - 5, 5).clone();
  const kernels::RmsNormOut few = kernels::rms_norm_forward(tail, w, 1e-5);
  CHECK(tests::same_bits(all.y.narrow(0, rows - 5, 5), few.y));
  const at::Tensor dx = kernels::rms_norm_backward(x, x, w, all.rstd, {}, false).dx;
  CHECK(tests::same_bits(dx.narrow(0, rows - 5, 5), kernels::rms_norm_backward(tail, tail, w, few.rstd, {}, false).dx));
}
