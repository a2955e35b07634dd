// The shared cases on a GPU.
#include "tests/kernels/tested_device.h"

at::Device headroom::tests::tested_device() { return {at::kCUDA, 0}; }
