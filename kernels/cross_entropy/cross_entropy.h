// Cross entropy with its gradient in one pass over the logits, on raw memory: what CPU and CUDA have in common. No torch.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"

struct CUstream_st;  // cudaStream_t without CUDA's headers

namespace headroom::kernels {

enum class Reduction : std::uint8_t { kNone, kMean, kSum };

// What an error flag holds: 0, or 1 + the row of a target outside the vocabulary (the last such row), or one of these.
inline constexpr std::int64_t kFlagWrongCount = std::int64_t{1} << 62;  // more or fewer valid rows than the caller said
inline constexpr std::int64_t kFlagUpstream = kFlagWrongCount + 1;      // gradient was accumulated for another upstream

struct CrossEntropyArgs {
  Storage storage = Storage::kFp32;
  void* logits = nullptr;                 // [N, V], rows `stride` elements apart
  void* dlogits = nullptr;                // as logits; the same memory: in place; null: loss only
  const std::int64_t* targets = nullptr;  // [N]
  float* loss = nullptr;                  // [N], not divided by the number of rows
  std::int64_t* error_flag = nullptr;     // raised to 1 + row of a target outside the vocabulary; may be null
  const float* scale = nullptr;           // one number, multiplies the gradient; null: 1
  std::int64_t rows = 0, vocab = 0, stride = 0;
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
};

// Which kernel; the driver and the benchmark ask for one by name.
enum class CrossEntropyVariant : std::uint8_t { kAuto, kOneRead, kTwoReads };

// Rows [begin, end) on the calling thread.
void cross_entropy_cpu(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end);

// Queue on the stream; allocate nothing. All return the launch's cudaError_t (0: queued).
int cross_entropy_cuda(const CrossEntropyArgs& args, CUstream_st* stream,
                       CrossEntropyVariant variant = CrossEntropyVariant::kAuto);
// scale[0] = grad_scale[0] / divisor, where the divisor is 1 for a sum, else the rows that are not ignored, counted if
// `valid_count` is negative; no valid row: scale 0. scale[1] = 1 / divisor. grad_scale null: 1.
int cross_entropy_scale_cuda(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index,
                             std::int64_t valid_count, Reduction reduction, const float* grad_scale, float* scale,
                             CUstream_st* stream);
// total[0] = factor[0] · Σ loss; in a fixed order.
int cross_entropy_total_cuda(const float* loss, std::int64_t rows, const float* factor, float* total,
                             CUstream_st* stream);

// gradient[row, :] *= upstream / made_for; rows where that is 1 are not touched.
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
