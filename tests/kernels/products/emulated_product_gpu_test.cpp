// The CPU's cases of fp8 and tf32 GEMMs, emulated on a GPU.
#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/kernels/tested_device.h"

at::Device headroom::tests::tested_device() {
  kernels::emulate_narrow_products(true);
  return {at::kCUDA, 0};
}
