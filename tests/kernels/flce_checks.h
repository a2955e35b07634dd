// What the fused linear cross entropy must do on whatever device.
#pragma once

#include <ATen/ATen.h>

namespace headroom::test {

// Loss and gradients of all modes beside float64 and beside the plain product and PyTorch's own cross entropy in the same
// type; token counts that are no multiple of the chunk, odd widths.
void check_flce_errors(at::Device device);
// Ignored rows left out or taken along, all rows ignored, no rows.
void check_flce_ignored(at::Device device);
// dW added to a buffer, dX over x, twice the same bits, the loss alone.
void check_flce_memory(at::Device device);
// Upstream gradients: other than 1, a loss scale in fp16, one backward pass after another.
void check_flce_upstream(at::Device device);

}  // namespace headroom::test
