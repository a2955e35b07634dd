// What a GPU run requests beyond its trace on meta tensors: workspaces of libraries and scratch inside PyTorch's kernels.
#pragma once

#include "demos/predict/step_settings.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Of an H100 or H200 (SXM).
inline constexpr std::int64_t kMultiprocessors = 132;
// cuBLAS keeps one for each handle and stream. PyTorch's default for compute capability 9.0 is 4,096 × 8 KiB.
inline constexpr record::Bytes kBlasWorkspace = 32 * record::kMiB;
// cuBLASLt's, which the chunked output layer and products in fp8 multiply with: PyTorch's default.
inline constexpr record::Bytes kBlasLtWorkspace = record::kMiB;
// A CUDA graph's seed and offset of the random numbers, which it takes before its pool begins.
inline constexpr int kGraphNumbers = 2;
inline constexpr record::Bytes kGraphNumber = 8;

// The gradient of an embedding is summed by token id: from so many tokens on PyTorch sorts them and sums in parts
// (aten/src/ATen/native/cuda/Embedding.cu, EmbeddingBackwardKernel.cu). What it holds beside the gradient: five lists
// of ids, and the parts with where they begin. 1B, 4,096 tokens: 5 · 32,768 + 4,505 · (8 + 8,192) + 16 =
// 37,104,856; 0 for the fused kernel and for fewer tokens.
record::Bytes id_sort_bytes(const StepSettings& step);

// The trace with these requests, each where the GPU makes it. Every line of the table behind it is an operator's, with its
// reason, as recorded on an H200 (compute capability 9.0, PyTorch 2.11); other generations take other workspaces and are
// untested.
record::Recording with_gpu_extras(const record::Recording& trace, record::Schema train_step);

}  // namespace headroom::predict
