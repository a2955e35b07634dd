// What the kernels of this build were compiled for, and what the current device has.
#pragma once

namespace headroom::kernels {

// The oldest GPU that they run on, as its compute capability times ten: 80 is 8.0.
int oldest_capability();

// Shared memory of a multiprocessor of the current device, in bytes; asked once per device.
int processor_shared_bytes();

}  // namespace headroom::kernels
