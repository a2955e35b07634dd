// What the kernels of this build were compiled for.
#pragma once

namespace headroom::kernels {

// The oldest GPU that they run on, as its compute capability times ten: 80 is 8.0.
int oldest_capability();

}  // namespace headroom::kernels
