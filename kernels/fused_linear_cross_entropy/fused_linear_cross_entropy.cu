// Computes    from the labels: number and list of valid rows, scalars; gather and scatter of rows; a slice's part of
//             each row's softmax, m' = max(m, max x), s' = s exp(m − m') + Σ exp(x − m'), and its gradient, written
//             over its logits
// Shapes      targets [N]; x, dx [N, H]; a slice of the logits [N, v] with rows `stride` apart; parts [4, N] fp32
// Precision   storage fp32, bf16 or fp16; arithmetic fp32
// Memory      gather and scatter move 2·n·H·s bytes, a slice's parts N·v·s, its gradient 2·N·v·s
// Variants    16 bytes per thread if aligned, otherwise single elements
// Source      Milakov, Gimelshein 2018, arXiv:1805.02867 (softmax in parts)
// Checked by  tests/kernels/loss/flce_cases.cpp
#include <cstdint>

#include "kernels/common/storage.cuh"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/fused_linear_cross_entropy/parts.h"

namespace headroom::kernels {

namespace {

constexpr int kLabelThreads = 1024;
constexpr int kRowThreads = 256;

__device__ void raise(std::int64_t* flag, std::int64_t value) {
  atomicMax(reinterpret_cast<long long*>(flag), static_cast<long long>(value));
}

// A kept row's place is the number of kept rows before it.
__global__ void __launch_bounds__(kLabelThreads) labels_kernel(const FlceLabels labels) {
  __shared__ int kept_in_warp[kLabelThreads / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  std::int64_t valid = 0;
  for (std::int64_t first = 0; first < labels.tokens; first += kLabelThreads) {
    const std::int64_t row = first + threadIdx.x;
    const std::int64_t target = row < labels.tokens ? labels.targets[row] : labels.ignore_index;
    const bool kept = target != labels.ignore_index;
    if (kept && (target < 0 || target >= labels.vocab)) raise(labels.error_flag, row + 1);
    if (labels.rows != nullptr) {
      const unsigned votes = __ballot_sync(0xffffffffu, kept);
      if (lane == 0) kept_in_warp[warp] = __popc(votes);
      __syncthreads();
      std::int64_t place = valid + __popc(votes & ((1u << lane) - 1u));
      for (unsigned w = 0; w < warp; ++w) place += kept_in_warp[w];
      if (kept && place < labels.valid_count) {
        labels.rows[place] = row;
        labels.row_targets[place] = target;
      }
    }
    valid += __syncthreads_count(kept);  // also a barrier before kept_in_warp is overwritten
  }
  if (labels.rows != nullptr) {
    for (std::int64_t place = valid + threadIdx.x; place < labels.valid_count; place += kLabelThreads) {
      labels.rows[place] = -1;
      labels.row_targets[place] = labels.ignore_index;
    }
  }
  if (threadIdx.x != 0) return;
  if (labels.valid_count >= 0 && valid != labels.valid_count) raise(labels.error_flag, kFlagWrongCount);
  const bool sums = labels.reduction == Reduction::kSum;
  const float part = valid == 0 ? 0.0f : sums ? 1.0f : 1.0f / static_cast<float>(valid);
  const float upstream = labels.grad_scale == nullptr ? 1.0f : *labels.grad_scale;
  *labels.scalars = {.alpha = upstream * part / labels.dlogits_scale,
                     .loss_factor = part,
                     .dlogits_scale = labels.dlogits_scale,
                     .one = 1.0f,
                     .zero = 0.0f};
}

// Copies a row with one block; null `from`: zeros.
template <typename T>
__device__ void copy_row(const T* from, T* to, std::int64_t width) {
  constexpr std::int64_t kWidth = Vector<T>::kWidth;
  const auto aligned_at = [](const T* row) { return reinterpret_cast<std::uintptr_t>(row) % kVectorBytes == 0; };
  const std::int64_t vectors = aligned_at(to) && (from == nullptr || aligned_at(from)) ? width / kWidth : 0;
  Vector<T> zeros;
#pragma unroll
  for (int j = 0; j < Vector<T>::kWidth; ++j) store(zeros.element[j], 0.0f);
  for (std::int64_t i = threadIdx.x; i < vectors; i += blockDim.x) {
    reinterpret_cast<Vector<T>*>(to)[i] = from == nullptr ? zeros : reinterpret_cast<const Vector<T>*>(from)[i];
  }
  for (std::int64_t i = vectors * kWidth + threadIdx.x; i < width; i += blockDim.x) {
    to[i] = from == nullptr ? zeros.element[0] : from[i];
  }
}

template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    gather_kernel(const T* from, const std::int64_t* rows, std::int64_t width, T* to) {
  const std::int64_t row = rows[blockIdx.x];
  copy_row(row < 0 ? nullptr : from + row * width, to + std::int64_t{blockIdx.x} * width, width);
}

template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    scatter_kernel(const T* from, const std::int64_t* rows, std::int64_t width, T* to) {
  const std::int64_t row = rows[blockIdx.x];
  if (row >= 0) copy_row(from + std::int64_t{blockIdx.x} * width, to + row * width, width);
}

template <typename T>
__global__ void __launch_bounds__(kRowThreads)
    zero_ignored_kernel(const std::int64_t* targets, std::int64_t ignore_index, std::int64_t width, T* data) {
  const T* const nothing = nullptr;
  if (targets[blockIdx.x] == ignore_index) copy_row(nothing, data + std::int64_t{blockIdx.x} * width, width);
}

__device__ bool in_vocabulary(const FlceSlice& slice, std::int64_t target) {
  return target != slice.ignore_index && target >= 0 && target < slice.vocab;
}

// A row of a slice is computed by a warp, or by a block if the row is long.
template <bool kByWarp>
struct RowWorkers {
  static constexpr int kRows = kByWarp ? kRowThreads / kWarp : 1;  // per block
  static constexpr int kThreads = kByWarp ? kWarp : kRowThreads;   // per row
  static __device__ std::int64_t row() { return std::int64_t{blockIdx.x} * kRows + threadIdx.x / kThreads; }
  static __device__ int thread() { return static_cast<int>(threadIdx.x) % kThreads; }
};

template <typename T, bool kByWarp>
__global__ void __launch_bounds__(kRowThreads) slice_parts_kernel(const FlceSlice slice) {
  using Workers = RowWorkers<kByWarp>;
  __shared__ SoftmaxPart warp_parts[kRowThreads / kWarp];
  const std::int64_t row = Workers::row();
  if (row >= slice.rows) return;
  const int thread = Workers::thread();
  const std::int64_t target = slice.targets[row];
  if (!in_vocabulary(slice, target)) return;
  const T* const in = static_cast<const T*>(slice.logits) + row * slice.stride;
  const RowPlan plan = plan_row(in, slice.columns);
  const auto* const vectors = reinterpret_cast<const uint4*>(in + plan.head);
  const bool smooths = slice.label_smoothing != 0;
  SoftmaxPart part;
  if (thread < plan.head + plan.tail) part = part_of<T>(load(in[plan.single_column(thread)]));
#pragma unroll 4
  for (std::int64_t i = thread; i < plan.vectors; i += Workers::kThreads) {
    add_to_part(part, RowVector<T>::load_streaming(vectors + i), smooths);
  }
  SoftmaxPart whole = kByWarp ? warp_merged<T>(part, smooths) : block_merged<T>(part, warp_parts, smooths);
  if (thread != 0) return;
  float* const mine = slice.parts + row;
  const std::int64_t rows = slice.rows;
  if (slice.first > 0) {
    const SoftmaxPart before = {.shift = mine[0], .sum = mine[rows], .total = mine[2 * rows]};
    whole = merged<T>(before, whole);
  }
  mine[0] = whole.shift;
  mine[rows] = whole.sum;
  mine[2 * rows] = whole.total;
  const std::int64_t column = target - slice.first;
  if (column >= 0 && column < slice.columns) mine[3 * rows] = load(in[column]);
}

template <typename T>
__global__ void __launch_bounds__(kRowThreads) slice_loss_kernel(const FlceSlice slice, float* loss) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowThreads + threadIdx.x;
  if (row >= slice.rows) return;
  const std::int64_t target = slice.targets[row];
  if (!in_vocabulary(slice, target)) {
    loss[row] = target == slice.ignore_index ? 0.0f : NAN;
    return;
  }
  const float* const mine = slice.parts + row;
  const SoftmaxPart whole = {.shift = mine[0], .sum = mine[slice.rows], .total = mine[2 * slice.rows]};
  loss[row] = row_loss<T>(whole, mine[3 * slice.rows], slice.label_smoothing, slice.vocab);
}

template <typename T, bool kByWarp>
__global__ void __launch_bounds__(kRowThreads) slice_gradient_kernel(const FlceSlice slice, const float* scale) {
  using Workers = RowWorkers<kByWarp>;
  const std::int64_t row = Workers::row();
  if (row >= slice.rows) return;
  const int thread = Workers::thread();
  const std::int64_t target = slice.targets[row];
  T* const data = static_cast<T*>(slice.logits) + row * slice.stride;
  const RowPlan plan = plan_row(data, slice.columns);
  auto* const vectors = reinterpret_cast<uint4*>(data + plan.head);
  const bool has_single = thread < plan.head + plan.tail;
  const std::int64_t single = plan.single_column(thread);
  if (!in_vocabulary(slice, target)) {
    for (std::int64_t i = thread; i < plan.vectors; i += Workers::kThreads) vectors[i] = make_uint4(0, 0, 0, 0);
    if (has_single) store(data[single], 0.0f);
    return;
  }
  const SoftmaxPart whole = {.shift = slice.parts[row], .sum = slice.parts[slice.rows + row]};
  const RowGradient gradient = row_gradient(whole, *scale, slice.label_smoothing, slice.vocab);
  const std::int64_t target_column = target - slice.first;
#pragma unroll 4
  for (std::int64_t i = thread; i < plan.vectors; i += Workers::kThreads) {
    RowVector<T> value = RowVector<T>::load(vectors + i);
    to_gradient(gradient, value, target_column - (plan.head + i * RowVector<T>::kWidth));
    value.store(vectors + i);
  }
  if (has_single) store(data[single], gradient_of<T>(gradient, load(data[single]), single == target_column));
}

// Calls launch(type, by warp, blocks).
template <typename Launch>
int launch_rows(const FlceSlice& slice, Launch&& launch) {
  constexpr std::int64_t kMostByWarp = 32 << 10;  // bytes of a row: 64 vectors per thread
  const bool by_warp = slice.columns * bytes_of(slice.storage) <= kMostByWarp;
  const int rows = by_warp ? RowWorkers<true>::kRows : RowWorkers<false>::kRows;
  const auto blocks = static_cast<unsigned>((slice.rows + rows - 1) / rows);
  return with_storage(slice.storage, [&](auto type) -> int {
    if (by_warp) {
      launch(type, std::true_type{}, blocks);
    } else {
      launch(type, std::false_type{}, blocks);
    }
    return cudaGetLastError();
  });
}

__global__ void check_upstream_kernel(const float* upstream, const float* made_for, std::int64_t* error_flag) {
  if (*upstream != (made_for == nullptr ? 1.0f : *made_for)) raise(error_flag, kFlagUpstream);
}

}  // namespace

int flce_check_upstream_cuda(const float* upstream, const float* made_for, std::int64_t* error_flag,
                             CUstream_st* stream) {
  check_upstream_kernel<<<1, 1, 0, stream>>>(upstream, made_for, error_flag);
  return cudaGetLastError();
}

int flce_labels_cuda(const FlceLabels& labels, CUstream_st* stream) {
  labels_kernel<<<1, kLabelThreads, 0, stream>>>(labels);
  return cudaGetLastError();
}

int flce_gather_cuda(Storage storage, const void* from, const std::int64_t* rows, std::int64_t count,
                     std::int64_t width, void* to, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) -> int {
    using T = decltype(type);
    gather_kernel<<<static_cast<unsigned>(count), kRowThreads, 0, stream>>>(static_cast<const T*>(from), rows, width,
                                                                            static_cast<T*>(to));
    return cudaGetLastError();
  });
}

int flce_scatter_cuda(Storage storage, const void* from, const std::int64_t* rows, std::int64_t count,
                      std::int64_t width, void* to, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) -> int {
    using T = decltype(type);
    scatter_kernel<<<static_cast<unsigned>(count), kRowThreads, 0, stream>>>(static_cast<const T*>(from), rows, width,
                                                                             static_cast<T*>(to));
    return cudaGetLastError();
  });
}

int flce_zero_ignored_cuda(Storage storage, const std::int64_t* targets, std::int64_t ignore_index, std::int64_t tokens,
                           std::int64_t width, void* data, CUstream_st* stream) {
  return with_storage(storage, [&](auto type) -> int {
    using T = decltype(type);
    zero_ignored_kernel<<<static_cast<unsigned>(tokens), kRowThreads, 0, stream>>>(targets, ignore_index, width,
                                                                                   static_cast<T*>(data));
    return cudaGetLastError();
  });
}

int flce_slice_parts_cuda(const FlceSlice& slice, CUstream_st* stream) {
  return launch_rows(slice, [&](auto type, auto by_warp, unsigned blocks) {
    slice_parts_kernel<decltype(type), decltype(by_warp)::value><<<blocks, kRowThreads, 0, stream>>>(slice);
  });
}

int flce_slice_loss_cuda(const FlceSlice& slice, float* loss, CUstream_st* stream) {
  const auto blocks = static_cast<unsigned>((slice.rows + kRowThreads - 1) / kRowThreads);
  return with_storage(slice.storage, [&](auto type) -> int {
    slice_loss_kernel<decltype(type)><<<blocks, kRowThreads, 0, stream>>>(slice, loss);
    return cudaGetLastError();
  });
}

int flce_slice_gradient_cuda(const FlceSlice& slice, const float* scale, CUstream_st* stream) {
  return launch_rows(slice, [&](auto type, auto by_warp, unsigned blocks) {
    slice_gradient_kernel<decltype(type), decltype(by_warp)::value><<<blocks, kRowThreads, 0, stream>>>(slice, scale);
  });
}

}  // namespace headroom::kernels
