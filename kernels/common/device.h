// The oldest GPU of this build, and the current device's shared memory.
#pragma once

namespace headroom::kernels {

// Ten times the compute capability: 80 is 8.0.
int oldest_capability();

// Shared memory per multiprocessor of the current device.
int processor_shared_bytes();

}  // namespace headroom::kernels
