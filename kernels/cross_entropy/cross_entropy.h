// Cross entropy with its gradient in one pass over the logits.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

namespace headroom::kernels {

enum class Reduction : std::uint8_t { kNone, kMean, kSum };

// An error flag is 0, 1 + the index of the last row with a target outside the vocabulary, or one of these constants.
inline constexpr std::int64_t kFlagWrongCount = std::int64_t{1} << 62;  // the caller gave a wrong number of valid rows
inline constexpr std::int64_t kFlagUpstream = kFlagWrongCount + 1;  // the gradient was accumulated for another upstream

struct CrossEntropyArgs {
  Storage storage = Storage::kFp32;
  void* logits = nullptr;                 // [N, V], rows `stride` elements apart
  void* dlogits = nullptr;                // like logits; may be the same memory; null: loss only
  const std::int64_t* targets = nullptr;  // [N]
  float* loss = nullptr;                  // [N], not divided by the number of rows
  std::int64_t* error_flag = nullptr;     // optional
  const float* scale = nullptr;           // one number, scales the gradient; optional
  std::int64_t rows = 0, vocab = 0, stride = 0;
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
};

enum class CrossEntropyVariant : std::uint8_t { kAuto, kOneRead, kTwoReads };

void cross_entropy_cpu(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end);

int cross_entropy_cuda(const CrossEntropyArgs& args, CUstream_st* stream,
                       CrossEntropyVariant variant = CrossEntropyVariant::kAuto);
// scale[0] = grad_scale[0] / divisor and scale[1] = 1 / divisor; both are 0 without valid rows. The divisor is 1 for a
// sum, otherwise the number of rows that are not ignored, counted if `valid_count` is negative. A null grad_scale
// counts as 1.
int cross_entropy_scale_cuda(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index,
                             std::int64_t valid_count, Reduction reduction, const float* grad_scale, float* scale,
                             CUstream_st* stream);
// total[0] = factor[0] · Σ loss, in a fixed order.
int cross_entropy_total_cuda(const float* loss, std::int64_t rows, const float* factor, float* total,
                             CUstream_st* stream);

// gradient[row, :] *= upstream / made_for.
struct ScaleGradientArgs {
  Storage storage = Storage::kFp32;
  void* gradient = nullptr;  // [rows, width]
  std::int64_t rows = 0, width = 0;
  const float* upstream = nullptr;  // one number, or one per row
  bool upstream_per_row = false;
  const float* made_for = nullptr;  // likewise; null: 1
  bool made_for_per_row = false;
};
int scale_gradient_cuda(const ScaleGradientArgs& args, CUstream_st* stream);

}  // namespace headroom::kernels
