// The shared cases on the CPU.
#include "tests/kernels/tested_device.h"

at::Device headroom::tests::tested_device() { return at::kCPU; }
