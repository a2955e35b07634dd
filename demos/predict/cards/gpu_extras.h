// Requests that a trace on meta tensors lacks: library workspaces and scratch memory of PyTorch's kernels.
#pragma once

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::predict {

// H100 and H200 (SXM).
inline constexpr std::int64_t kMultiprocessors = 132;
// Per cuBLAS handle and stream. PyTorch's default for compute capability 9.0: 4,096 × 8 KiB.
inline constexpr record::Bytes kBlasWorkspace = 32 * record::kMiB;
// PyTorch's default for cuBLASLt, which the chunked head and fp8 GEMMs use.
inline constexpr record::Bytes kBlasLtWorkspace = record::kMiB;
// Random seed and offset of a CUDA graph, outside its pool.
inline constexpr int kGraphNumbers = 2;
inline constexpr record::Bytes kGraphNumber = 8;

// The backward pass of PyTorch's embedding sorts many tokens by id and sums them in parts
// (aten/src/ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu). Scratch: five lists of ids, and the parts with
// their offsets. 1B, 4,096 tokens: 5 · 32,768 + 4,505 · (8 + 8,192) + 16 = 37,104,856. 0 for the fused kernel, and for
// few tokens.
record::Bytes id_sort_bytes(const StepSettings& step);

// Inserts the missing requests where a GPU run issues them, as recorded on an H200 (compute capability 9.0, PyTorch
// 2.11). Other GPU generations use other workspaces and are untested.
record::Recording with_gpu_extras(const record::Recording& trace, record::Schema train_step);

}  // namespace headroom::predict
