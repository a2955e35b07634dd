// LayerNorm's kernels for rows of each width on a GPU.
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
