// The search for inf and NaN and the loss scale on a GPU.
#include "tests/kernels/tested_device.h"

at::Device headroom::test::tested_device() { return at::kCUDA; }
