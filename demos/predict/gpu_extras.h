// What a GPU run requests beyond its trace on meta tensors: workspaces of libraries and scratch inside PyTorch's kernels.
#pragma once

#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::predict {

// The trace with these requests, each where the GPU makes it. Every line of the table behind it is an operator's, with its
// reason, as recorded on an H200 (compute capability 9.0, PyTorch 2.11); other generations take other workspaces and are
// untested. Not in it, since they were not at a peak: the scratch of sorting, and eager attention's backward.
record::Recording with_gpu_extras(const record::Recording& trace, record::Schema train_step);

}  // namespace headroom::predict
