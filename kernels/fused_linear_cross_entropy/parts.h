// Small kernels between the GEMMs of the fused linear cross entropy.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy.h"

namespace headroom::kernels {

// Scalars in device memory.
struct FlceScalars {
  float alpha;          // turns dlogits into gradients: grad_scale / (divisor · dlogits_scale)
  float loss_factor;    // 1 / divisor
  float dlogits_scale;  // factor of dlogits: 2^14 in fp16, where 7.8e-6 = 1/V has few digits
  float one, zero;
};

// Byte offsets in the scratch memory.
struct FlceScratchPlan {
  std::int64_t scalars = 0;                              // FlceScalars
  std::int64_t row_loss = 0;                             // fp32 [N]
  std::int64_t slice_parts = 0;                          // kLean: fp32 [4, N]
  std::int64_t rows = 0, row_targets = 0, gathered = 0;  // if ignored rows are left out
  std::int64_t bytes = 0;
};
FlceScratchPlan flce_scratch_plan(const FlceProblem& problem);

struct FlceLabels {
  const std::int64_t* targets = nullptr;  // [N]
  std::int64_t tokens = 0, vocab = 0, ignore_index = -100;
  std::int64_t valid_count = -1;
  Reduction reduction = Reduction::kMean;
  float dlogits_scale = 1;
  const float* grad_scale = nullptr;
  std::int64_t* error_flag = nullptr;
  FlceScalars* scalars = nullptr;
  // Rows that are not ignored, in order, and their targets, both [valid_count] or null. Unused entries are row -1
  // with an ignored target.
  std::int64_t* rows = nullptr;
  std::int64_t* row_targets = nullptr;
};

// Checks the labels, and writes the list of rows and the scalars.
int flce_labels_cuda(const FlceLabels& labels, CUstream_st* stream);

// to[i, :] = from[rows[i], :], zeros for row -1; i < count.
int flce_gather_cuda(Storage storage, const void* from, const std::int64_t* rows, std::int64_t count,
                     std::int64_t width, void* to, CUstream_st* stream);
// to[rows[i], :] = from[i, :].
int flce_scatter_cuda(Storage storage, const void* from, const std::int64_t* rows, std::int64_t count,
                      std::int64_t width, void* to, CUstream_st* stream);
// Zeros the rows whose target is ignored.
int flce_zero_ignored_cuda(Storage storage, const std::int64_t* targets, std::int64_t ignore_index, std::int64_t tokens,
                           std::int64_t width, void* data, CUstream_st* stream);

// Logits of columns [first, first + columns) for all rows.
struct FlceSlice {
  Storage storage = Storage::kBf16;
  void* logits = nullptr;  // [N, columns], rows `stride` apart
  std::int64_t rows = 0, columns = 0, stride = 0, first = 0, vocab = 0;
  const std::int64_t* targets = nullptr;
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
  float* parts = nullptr;  // [4, N]: each row's maximum, Σ exp(x − maximum), Σ x and target's logit so far
};

// Merges the slice into the rows' parts; the slice at column 0 starts them.
int flce_slice_parts_cuda(const FlceSlice& slice, CUstream_st* stream);
int flce_slice_loss_cuda(const FlceSlice& slice, float* loss, CUstream_st* stream);
// Overwrites the logits with their gradient, times `scale`.
int flce_slice_gradient_cuda(const FlceSlice& slice, const float* scale, CUstream_st* stream);

// On the CPU targets are in the vocabulary or ignored.
void flce_slice_parts_cpu(const FlceSlice& slice, std::int64_t begin, std::int64_t end);
void flce_slice_loss_cpu(const FlceSlice& slice, float* loss);
void flce_slice_gradient_cpu(const FlceSlice& slice, float scale, std::int64_t begin, std::int64_t end);

// Raises the flag to kFlagUpstream unless upstream equals made_for (null: 1).
int flce_check_upstream_cuda(const float* upstream, const float* made_for, std::int64_t* error_flag,
                             CUstream_st* stream);

}  // namespace headroom::kernels
