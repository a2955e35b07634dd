// Products by fp8 and tf32 on a GPU without tensor cores for them: the cases that the CPU passes.
#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/kernels/tested_device.h"

at::Device headroom::test::tested_device() {
  kernels::emulate_narrow_products(true);
  return {at::kCUDA, 0};
}
