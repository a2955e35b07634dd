// The oldest GPU of this build, and the current device's shared memory per multiprocessor.
#pragma once

namespace headroom::kernels {

// Ten times the compute capability: 80 is 8.0.
int oldest_capability();

int processor_shared_bytes();

}  // namespace headroom::kernels
