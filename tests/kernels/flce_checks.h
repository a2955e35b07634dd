// Test bodies for the fused linear cross entropy on any device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::tests {

// All modes next to float64 and the plain composition; token counts that are no multiple of the chunk, odd widths.
void check_flce_errors(at::Device device);
// Ignored rows skipped or included, all ignored, no rows.
void check_flce_ignored(at::Device device);
// dW added to a buffer, dX over x, equal bits, the loss alone.
void check_flce_memory(at::Device device);
// Upstream gradients other than 1, a loss scale in fp16, repeated backward passes.
void check_flce_upstream(at::Device device);

}  // namespace headroom::tests
