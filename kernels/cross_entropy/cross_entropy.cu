// Computes    loss_i = log Σ_j exp(x_ij) − x_it, t = target of row i;  dx_ij = s (exp(x_ij) / Σ − [j = t]), over x if asked
// Shapes      x, dx [N, V] with rows `stride` apart; targets, loss [N]
// Precision   storage fp32, bf16 or fp16; all arithmetic, sums and the loss in fp32
// Memory      allocates nothing; moves 2·N·V·s bytes with the gradient, N·V·s without, s = bytes an element
// Variants    one read: the row stays in the registers of up to 8 blocks, which exchange maximum and sum through
//             distributed shared memory (Hopper and later), or of one block (any chip, V up to 65536 in 16 bits);
//             two reads: as many rows in flight as multiprocessors, so that the second read finds the row in the L2
// Source      Milakov, Gimelshein 2018, arXiv:1805.02867 (the running maximum); label smoothing: Szegedy et al. 2016,
//             arXiv:1512.00567, section 7
// Checked by  tests/kernels/cross_entropy_gpu_test.cpp
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include <cooperative_groups.h>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/softmax.cuh"
#include "kernels/storage.cuh"

namespace headroom::kernels {

namespace {

namespace cg = cooperative_groups;

constexpr int kMostThreads = 1024;
constexpr int kScaleThreads = 256;
constexpr int kMostBlocksARow = 8;  // the largest cluster that every chip with clusters takes

// True for a row to be computed. Else its loss and its gradient are written: ignored, or a target outside the vocabulary.
template <typename T>
__device__ bool row_counts(const CrossEntropyArgs& args, std::int64_t row, std::int64_t target, bool writes_loss) {
  const bool ignored = target == args.ignore_index;
  if (!ignored && target >= 0 && target < args.vocab) return true;
  if (writes_loss && threadIdx.x == 0) {
    args.loss[row] = ignored ? 0.0f : NAN;
    if (!ignored && args.error_flag != nullptr) {
      atomicMax(reinterpret_cast<long long*>(args.error_flag), static_cast<long long>(row + 1));
    }
  }
  return false;
}

template <typename T>
__device__ void zero_row(const CrossEntropyArgs& args, std::int64_t row, std::int64_t part, std::int64_t parts) {
  if (args.dlogits == nullptr) return;
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const RowPlan plan = plan_row(out, args.vocab);
  Vector<T> zeros;
#pragma unroll
  for (int j = 0; j < Vector<T>::kWidth; ++j) store(zeros.element[j], 0.0f);
  for (std::int64_t i = part; i < plan.vectors; i += parts) {
    store_streaming(reinterpret_cast<Vector<T>*>(out + plan.head) + i, zeros);
  }
  if (part < plan.head + plan.tail) store(out[plan.single_column(part)], 0.0f);
}

// `aligned`: the gradient's row starts as the logits' does. Where not (a view), elements go one by one.
template <typename T>
__device__ void put_vector(T* place, const RowVector<T>& vector, bool aligned) {
  if (aligned) {
    vector.store_streaming(place);
    return;
  }
  float x[RowVector<T>::kWidth];
  vector.unpack(x);
#pragma unroll
  for (int j = 0; j < RowVector<T>::kWidth; ++j) store(place[j], x[j]);
}

template <typename T>
__device__ bool same_alignment(const T* a, const T* b) {
  return reinterpret_cast<std::uintptr_t>(a) % kVectorBytes == reinterpret_cast<std::uintptr_t>(b) % kVectorBytes;
}

template <typename T, int kCount>
__device__ __forceinline__ void keep_packed(RowVector<T> (&vectors)[kCount]) {
#pragma unroll
  for (RowVector<T>& vector : vectors) vector.keep_packed();
}

// One block holds a row in registers: `kHeld` vectors a thread, and a single element in the first threads. Places behind
// the row's end hold −∞.
template <typename T, int kHeld>
__global__ void __launch_bounds__(kHeld == 8 ? kMostThreads : 512, kHeld == 8 ? 1 : 3)
    held_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart row_part;
  const std::int64_t row = blockIdx.x;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  const std::int64_t target = args.targets[row];
  if (!row_counts<T>(args, row, target, true)) {
    zero_row<T>(args, row, thread, threads);
    return;
  }
  const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
  const RowPlan plan = plan_row(in, args.vocab);
  const int vectors = static_cast<int>(plan.vectors);
  const auto* const in_vectors = reinterpret_cast<const uint4*>(in + plan.head);
  RowVector<T> held[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    held[k] = RowVector<T>::of_minus_infinity();
    if (i < vectors) held[k] = RowVector<T>::load_streaming(in_vectors + i);
  }
  const bool smooths = args.label_smoothing != 0;
  const bool has_single = thread < plan.head + plan.tail;
  const int single_column = static_cast<int>(plan.single_column(thread));
  const float single = has_single ? load(in[single_column]) : -INFINITY;
  const float target_logit = thread == 0 ? load(in[target]) : 0.0f;

  RunningMax<T> max;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) max.add(held[k]);
  SoftmaxPart part{.shift = fmaxf(max.value(), single) * Exponent<T>::kScale};
  keep_packed(held);
  const float shift = safe(part.shift);
  part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) part.sum += sum_of_powers(held[k], shift);
  keep_packed(held);
  if (smooths) {
    part.total = has_single ? single : 0.0f;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      if (k * threads + thread < vectors) part.total += sum_of(held[k]);
    }
    keep_packed(held);
  }
  const SoftmaxPart whole = block_merged<T>(part, warp_parts, smooths);
  if (thread == 0) {
    row_part = whole;
    args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
  }
  if (args.dlogits == nullptr) return;
  __syncthreads();  // the row's part is there, and all logits were read before the first is overwritten
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  const RowGradient gradient = row_gradient(row_part, scale, args.label_smoothing, args.vocab);
  T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
  const bool aligned_alike = same_alignment<T>(in, out);
  const int target_in_vectors = static_cast<int>(target - plan.head);
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int i = k * threads + thread;
    if (i >= vectors) continue;
    to_gradient(gradient, held[k], target_in_vectors - i * RowVector<T>::kWidth);
    put_vector(out + plan.head + std::int64_t{i} * RowVector<T>::kWidth, held[k], aligned_alike);
  }
  if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// A barrier in shared memory that a row's stretch, on its way from memory by the copy engine, or some warps arrive at.
struct Arrival {
  std::uint64_t barrier;

  static __device__ unsigned shared_address(const void* place) {
    return static_cast<unsigned>(__cvta_generic_to_shared(place));
  }
  __device__ void prepare() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
  }
  // Starts a copy to shared memory, which arrives when all is there. `bytes` and both places: multiples of 16.
  __device__ void begin(void* to, const void* from, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
                 : "memory");
    if (bytes == 0) return;
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(&barrier))
                 : "memory");
  }
  // Announces bytes that others will send.
  __device__ void expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes)
                 : "memory");
  }
  // Writes 16 bytes to the same place in another block of the cluster, where they arrive at its barrier. Unlike a barrier of
  // the cluster, this waits for none of the thread's earlier stores.
  __device__ void send(const void* place, const float4& value, unsigned rank) {
    unsigned remote_place = 0, remote_barrier = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_place) : "r"(shared_address(place)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote_barrier) : "r"(shared_address(&barrier)), "r"(rank));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     remote_place),
                 "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w), "r"(remote_barrier)
                 : "memory");
  }
  // For all arrivals of this turn; turns alternate between 0 and 1.
  __device__ void wait(unsigned turn) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(shared_address(&barrier)), "r"(turn)
          : "memory");
    }
  }
};

#endif

// What a thread keeps of the logits between the sum and the gradient: their powers, so that exp is taken once. Those of bf16
// logits are kept as fp16, times 2^15: 11 bits of all that is more than 2e-9 of the thread's largest, where the gradient has
// 8. fp16 logits are kept themselves: 11 bits would be rounded twice.
template <typename T>
struct Kept {
  static constexpr float kRaise = 0;
  static constexpr bool kChanges = true;
  static __device__ __forceinline__ float sum(RowVector<T>& vector, float shift) {
    float x[RowVector<T>::kWidth];
    vector.unpack(x);
    float sum = 0;
#pragma unroll
    for (float& element : x) sum += element = Exponent<T>::power_of(element, shift);
    vector.pack(x);
    return sum;
  }
  // `thread`: the thread's shift, which the powers are relative to.
  static __device__ __forceinline__ float factor(const RowGradient& row, float thread) {
    return row.factor * Exponent<T>::power(thread - row.shift);
  }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float factor, RowVector<T>& vector, int target) {
    float x[RowVector<T>::kWidth];
    vector.unpack(x);
    finish(row, factor, x, target);
    vector.pack(x);
  }
  template <int kWidth>
  static __device__ __forceinline__ void finish(const RowGradient& row, float factor, float (&x)[kWidth], int target) {
#pragma unroll
    for (float& element : x) element = fmaf(element, factor, -row.everywhere);
    if (target < 0 || target >= kWidth) return;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) x[j] -= j == target ? row.at_target : 0.0f;
  }
};

template <>
struct Kept<Bf16> : Kept<float> {
  static constexpr float kRaise = 15;
  static __device__ __forceinline__ float sum(RowVector<Bf16>& vector, float shift) {
    float x[RowVector<Bf16>::kWidth];
    vector.unpack(x);
    float sum = 0;
#pragma unroll
    for (float& element : x) sum += element = Exponent<Bf16>::power_of(element, shift);
#pragma unroll
    for (int i = 0; i < RowVector<Bf16>::kWords; ++i) vector.word[i] = Word<Fp16>::pack(x + 2 * i);
    return sum;
  }
  static __device__ __forceinline__ float factor(const RowGradient& row, float thread) {
    return row.factor * Exponent<Bf16>::power(thread - row.shift);
  }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float factor, RowVector<Bf16>& vector,
                                                  int target) {
    float x[RowVector<Bf16>::kWidth];
#pragma unroll
    for (int i = 0; i < RowVector<Bf16>::kWords; ++i) Word<Fp16>::unpack(vector.word[i], x + 2 * i);
    finish(row, factor, x, target);
    vector.pack(x);
  }
};

template <>
struct Kept<Fp16> {
  static constexpr float kRaise = 0;
  static constexpr bool kChanges = false;
  static __device__ __forceinline__ float sum(RowVector<Fp16>& vector, float shift) {
    return sum_of_powers(vector, shift);
  }
  static __device__ __forceinline__ float factor(const RowGradient& row, float) { return row.factor; }
  static __device__ __forceinline__ void gradient(const RowGradient& row, float, RowVector<Fp16>& vector, int target) {
    to_gradient(row, vector, target);
  }
};

#ifndef SPREAD_THREADS
#define SPREAD_THREADS 384
#endif
#ifndef SPREAD_BLOCKS
#define SPREAD_BLOCKS 3
#endif
#ifndef SPREAD_WANTED
#define SPREAD_WANTED 64
#endif
constexpr int kSpreadThreads = SPREAD_THREADS;

// The blocks of a cluster share a row, each a stretch of `stretch` vectors in shared memory, and take row after row. Three
// blocks a multiprocessor overlap one row's arrival with the arithmetic and the stores of others. (Sending for a part of the
// next row as soon as that part of this one is done is slower: 75 % of a copy where this reaches 84 %.) Between the blocks of
// a row goes one message a warp.
template <typename T>
__global__ void __launch_bounds__(kSpreadThreads, SPREAD_BLOCKS) spread_kernel(const CrossEntropyArgs args, int stretch) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Cluster = cg::cluster_group;
  constexpr int kWarps = kSpreadThreads / kWarp;
  extern __shared__ uint4 room[];
  // Messages of this row and the next: a block may be one row ahead.
  __shared__ float4 messages[2][kMostBlocksARow * kWarps];
  __shared__ Arrival message_arrivals[2];
  __shared__ Arrival arrival;
  const int blocks = static_cast<int>(Cluster::num_blocks()), rank = static_cast<int>(Cluster::block_rank());
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const std::int64_t step = gridDim.x / blocks;
  const auto row_at = [&](std::int64_t row) { return static_cast<const T*>(args.logits) + row * args.stride; };
  const int before_mine = rank * stretch;  // vectors of the blocks before
  const auto my_vectors = [&](const RowPlan& plan) {
    return max(0, min(stretch, static_cast<int>(plan.vectors) - before_mine));
  };
  const auto request = [&](std::int64_t row) {
    const RowPlan plan = plan_row(row_at(row), args.vocab);
    arrival.begin(room, row_at(row) + plan.head + std::int64_t{before_mine} * RowVector<T>::kWidth,
                  static_cast<unsigned>(my_vectors(plan) * kVectorBytes));
  };
  std::int64_t row = blockIdx.x / blocks;
  if (thread == 0) {
    arrival.prepare();
    message_arrivals[0].prepare();
    message_arrivals[1].prepare();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (row < args.rows) request(row);
  }
  Cluster::sync();  // the barriers are prepared, and all blocks run: their shared memory may be written
  const bool smooths = args.label_smoothing != 0;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  std::int64_t next_target = row < args.rows ? args.targets[row] : 0;
  unsigned turn = 0, exchanges = 0;
  for (; row < args.rows; row += step, turn ^= 1u) {
    const T* const in = row_at(row);
    const RowPlan plan = plan_row(in, args.vocab);
    const int vectors = my_vectors(plan);
    const int first = static_cast<int>(plan.head) + before_mine * RowVector<T>::kWidth;
    const std::int64_t target = next_target;
    if (row + step < args.rows) next_target = args.targets[row + step];
    const bool has_single = rank == 0 && thread < static_cast<int>(plan.head + plan.tail);
    const int single_column = static_cast<int>(plan.single_column(thread));
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    const bool counts = row_counts<T>(args, row, target, rank == 0);
    // Goes with the messages, so that it is there before any block writes over it.
    const float target_logit = counts && rank == 0 && warp == 0 ? load(in[target]) : 0.0f;
    arrival.wait(turn);
    if (counts) {
      const unsigned parity = exchanges / 2 % 2, slot = exchanges % 2;
      ++exchanges;
      if (thread == 0 && blocks > 1) {
        message_arrivals[slot].expect(static_cast<unsigned>(blocks * kWarps * sizeof(float4)));
      }
      RunningMax<T> most;
#pragma unroll 4
      for (int i = thread; i < vectors; i += kSpreadThreads) most.add(RowVector<T>::load(room + i));
      SoftmaxPart part;
      part.shift = fmaxf(most.value(), single) * Exponent<T>::kScale - Kept<T>::kRaise;
      const float shift = safe(part.shift);
      if (smooths) {
        part.total = has_single ? single : 0.0f;
        for (int i = thread; i < vectors; i += kSpreadThreads) part.total += sum_of(RowVector<T>::load(room + i));
      }
      part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll 2
      for (int i = thread; i < vectors; i += kSpreadThreads) {
        RowVector<T> value = RowVector<T>::load(room + i);
        part.sum += Kept<T>::sum(value, shift);
        if (Kept<T>::kChanges) value.store(room + i);
      }
      const SoftmaxPart of_warp = warp_merged<T>(part, smooths);
      const float4 message = make_float4(of_warp.shift, of_warp.sum, of_warp.total, target_logit);
      if (blocks == 1) {
        if (lane == 0) messages[slot][warp] = message;
        __syncthreads();
      } else {
        if (lane < blocks) {
          message_arrivals[slot].send(&messages[slot][rank * kWarps + warp], message, static_cast<unsigned>(lane));
        }
        message_arrivals[slot].wait(parity);
      }
      SoftmaxPart some;
      for (int i = lane; i < blocks * kWarps; i += kWarp) {
        const float4 other = messages[slot][i];
        some = merged<T>(some, {.shift = other.x, .sum = other.y, .total = other.z});
      }
      const SoftmaxPart whole = warp_merged<T>(some, smooths);
      if (rank == 0 && thread == 0) {
        args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
      }
      if (args.dlogits != nullptr) {
        const RowGradient gradient = row_gradient(whole, scale, args.label_smoothing, args.vocab);
        const float factor = Kept<T>::factor(gradient, shift);
        T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
        const bool aligned_alike = same_alignment<T>(in, out);
        const int target_here = static_cast<int>(target) - first;
#if BULK_STORE
        if (aligned_alike) {
#pragma unroll 2
          for (int i = thread; i < vectors; i += kSpreadThreads) {
            RowVector<T> value = RowVector<T>::load(room + i);
            Kept<T>::gradient(gradient, factor, value, target_here - i * RowVector<T>::kWidth);
            value.store(room + i);
          }
          asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
          __syncthreads();
          if (thread == 0 && vectors > 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first), "r"(Arrival::shared_address(room)), "r"(vectors * kVectorBytes) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
          }
        } else
#endif
#pragma unroll 2
        for (int i = thread; i < vectors; i += kSpreadThreads) {
          RowVector<T> value = RowVector<T>::load(room + i);
          Kept<T>::gradient(gradient, factor, value, target_here - i * RowVector<T>::kWidth);
#if PLAIN_STORE
          value.store(out + first + i * RowVector<T>::kWidth);
#else
          put_vector(out + first + i * RowVector<T>::kWidth, value, aligned_alike);
#endif
        }
        if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
      }
    } else {
      zero_row<T>(args, row, std::int64_t{rank} * kSpreadThreads + thread, std::int64_t{blocks} * kSpreadThreads);
    }
    __syncthreads();  // the stretch's room is free again
    if (thread == 0 && row + step < args.rows) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // after the powers that were stored there
      request(row + step);
    }
  }
  Cluster::sync();  // nobody leaves while another may still write to its shared memory
#endif
}

// One block a row at a time. Vectors are read four in flight.
template <typename T>
__global__ void __launch_bounds__(kMostThreads) two_reads_kernel(const CrossEntropyArgs args) {
  __shared__ SoftmaxPart warp_parts[kMostThreads / kWarp];
  __shared__ SoftmaxPart row_part;
  constexpr int kInFlight = 4;
  const std::int64_t thread = threadIdx.x, threads = blockDim.x;
  const bool smooths = args.label_smoothing != 0;
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const std::int64_t target = args.targets[row];
    if (!row_counts<T>(args, row, target, true)) {
      zero_row<T>(args, row, thread, threads);
      continue;
    }
    const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
    const RowPlan plan = plan_row(in, args.vocab);
    const auto* const vectors = reinterpret_cast<const uint4*>(in + plan.head);
    const bool has_single = thread < plan.head + plan.tail;
    const std::int64_t single_column = plan.single_column(thread);
    const float single = has_single ? load(in[single_column]) : -INFINITY;
    const float target_logit = thread == 0 ? load(in[target]) : 0.0f;
    SoftmaxPart part;
    if (has_single) part = part_of<T>(single);
    for (std::int64_t first = thread; first < plan.vectors; first += kInFlight * threads) {
      RowVector<T> read[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) read[k] = RowVector<T>::load(vectors + first + k * threads);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (first + k * threads < plan.vectors) add_to_part(part, read[k], smooths);
      }
    }
    const SoftmaxPart block = block_merged<T>(part, warp_parts, smooths);
    if (thread == 0) {
      row_part = block;
      args.loss[row] = row_loss<T>(block, target_logit, args.label_smoothing, args.vocab);
    }
    __syncthreads();  // the row's part is there, and all logits were read before the first is overwritten
    if (args.dlogits == nullptr) continue;
    const float scale = args.scale == nullptr ? 1.0f : *args.scale;
    const RowGradient gradient = row_gradient(row_part, scale, args.label_smoothing, args.vocab);
    T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
    const bool aligned_alike = same_alignment<T>(in, out);
#pragma unroll kInFlight
    for (std::int64_t i = thread; i < plan.vectors; i += threads) {
      RowVector<T> value = RowVector<T>::load_streaming(vectors + i);
      const std::int64_t column = plan.head + i * RowVector<T>::kWidth;
      to_gradient(gradient, value, target - column);
      put_vector(out + column, value, aligned_alike);
    }
    if (has_single) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
    __syncthreads();  // the shared parts are free again
  }
}

// Rows that are not ignored; one block, the same sum in all threads.
__device__ std::int64_t count_valid(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index) {
  std::int64_t valid = 0;
  for (std::int64_t first = 0; first < rows; first += blockDim.x) {
    const std::int64_t row = first + threadIdx.x;
    valid += __syncthreads_count(row < rows && targets[row] != ignore_index);
  }
  return valid;
}

__global__ void __launch_bounds__(kMostThreads)
    scale_kernel(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index, std::int64_t valid_count,
                 Reduction reduction, const float* grad_scale, float* scale) {
  std::int64_t divisor = 1;
  if (reduction == Reduction::kMean) {
    divisor = valid_count >= 0 ? valid_count : count_valid(targets, rows, ignore_index);
  }
  if (threadIdx.x != 0) return;
  const float part = divisor == 0 ? 0.0f : 1.0f / static_cast<float>(divisor);
  scale[0] = (grad_scale == nullptr ? 1.0f : *grad_scale) * part;
  scale[1] = part;
}

__global__ void __launch_bounds__(kMostThreads)
    total_kernel(const float* loss, std::int64_t rows, const float* factor, float* total) {
  __shared__ double warp_sums[kMostThreads / kWarp];
  double sum = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += blockDim.x) sum += loss[row];
  for (int lane = kWarp / 2; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % kWarp == 0) warp_sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  double all = 0;
  for (unsigned warp = 0; warp < blockDim.x / kWarp; ++warp) all += warp_sums[warp];
  *total = static_cast<float>(all) * *factor;
}

template <typename T>
__global__ void __launch_bounds__(kScaleThreads) scale_gradient_kernel(const ScaleGradientArgs args) {
  for (std::int64_t row = blockIdx.x; row < args.rows; row += gridDim.x) {
    const float made_for = args.made_for == nullptr ? 1.0f : args.made_for[args.made_for_per_row ? row : 0];
    const float factor = args.upstream[args.upstream_per_row ? row : 0] / made_for;
    if (factor == 1.0f) continue;
    T* const out = static_cast<T*>(args.gradient) + row * args.width;
    const RowPlan plan = plan_row(out, args.width);
    auto* const vectors = reinterpret_cast<Vector<T>*>(out + plan.head);
    for (std::int64_t i = threadIdx.x; i < plan.vectors; i += blockDim.x) {
      Vector<T> value = vectors[i];
#pragma unroll
      for (int j = 0; j < Vector<T>::kWidth; ++j) store(value.element[j], load(value.element[j]) * factor);
      vectors[i] = value;
    }
    if (threadIdx.x < plan.head + plan.tail) {
      T& single = out[plan.single_column(threadIdx.x)];
      store(single, load(single) * factor);
    }
  }
}

template <typename T, int kHeld>
int launch_held(const CrossEntropyArgs& args, int threads, CUstream_st* stream) {
  held_kernel<T, kHeld><<<static_cast<unsigned>(args.rows), threads, 0, stream>>>(args);
  return cudaGetLastError();
}

// One block a row. From little to much a thread: 4 vectors keep enough loads in flight.
template <typename T>
int launch_held(const CrossEntropyArgs& args, CUstream_st* stream) {
  const std::int64_t vectors = args.vocab / RowVector<T>::kWidth;
  if (vectors <= 64) return launch_held<T, 1>(args, 64, stream);
  if (vectors <= 256) return launch_held<T, 1>(args, 256, stream);
  if (vectors <= 512) return launch_held<T, 2>(args, 256, stream);
  if (vectors <= 1024) return launch_held<T, 4>(args, 256, stream);
  if (vectors <= 2048) return launch_held<T, 4>(args, 512, stream);
  return launch_held<T, 8>(args, vectors <= 4096 ? 512 : 1024, stream);
}
constexpr std::int64_t kMostHeldBytes = 8 * 1024 * kVectorBytes;

// How a row is spread over a cluster: blocks, and the vectors of each; blocks 0: too long for a cluster.
struct Spread {
  int blocks, stretch;
};

Spread spread(std::int64_t vectors) {
  constexpr std::int64_t kWanted = (SPREAD_WANTED << 10) / kVectorBytes;  // a third of a multiprocessor's shared memory
  constexpr std::int64_t kMost = (200 << 10) / kVectorBytes;
  const std::int64_t blocks = std::min<std::int64_t>((vectors + kWanted - 1) / kWanted, kMostBlocksARow);
  const std::int64_t stretch = (vectors + blocks - 1) / blocks;
  if (stretch > kMost) return {};
  return {static_cast<int>(blocks), static_cast<int>(stretch)};
}

// Clusters that run at once; more would wait for the first to have taken all its rows. Asked for once a configuration.
cudaError_t clusters_at_once(const void* kernel, const cudaLaunchConfig_t& config, int& clusters) {
  using Key = std::tuple<int, const void*, unsigned, std::size_t>;
  static std::mutex mutex;
  static std::map<Key, int> known;
  int device = 0;
  cudaGetDevice(&device);
  const std::lock_guard lock(mutex);
  int& count = known[Key{device, kernel, config.gridDim.x, config.dynamicSmemBytes}];
  if (count == 0) {
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&count, kernel, &config);
    if (error != cudaSuccess) return error;
    count = std::max(count, 1);
  }
  clusters = count;
  return cudaSuccess;
}

template <typename T>
int launch_spread(const CrossEntropyArgs& args, const Spread& way, CUstream_st* stream) {
  const auto kernel = spread_kernel<T>;
  const int bytes = way.stretch * kVectorBytes;
  cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(way.blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(way.blocks));
  config.blockDim = dim3(kSpreadThreads);
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  error = clusters_at_once(reinterpret_cast<const void*>(kernel), config, clusters);
  if (error != cudaSuccess) return error;
  const std::int64_t taken = std::min<std::int64_t>(args.rows, clusters);
  config.gridDim = dim3(static_cast<unsigned>(taken * way.blocks));
  return cudaLaunchKernelEx(&config, kernel, args, way.stretch);
}

bool has_clusters() {
  int device = 0, major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  return major >= 9;
}

template <typename T>
int launch(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  constexpr std::int64_t kMostBlocks = 2'147'483'647, kHeldBytesBesideClusters = 16 << 10;
  const bool clusters = has_clusters();
  const std::int64_t vectors = args.vocab / RowVector<T>::kWidth, bytes = vectors * kVectorBytes;
  const bool held = bytes <= (clusters ? kHeldBytesBesideClusters : kMostHeldBytes) && args.rows <= kMostBlocks;
  if (variant != CrossEntropyVariant::kTwoReads) {
    if (held) return launch_held<T>(args, stream);
    const Spread way = spread(vectors);
    if (clusters && way.blocks > 0) return launch_spread<T>(args, way, stream);
    if (variant == CrossEntropyVariant::kOneRead) return cudaErrorInvalidConfiguration;
  }
#ifndef TWO_BLOCKS
#define TWO_BLOCKS 1
#endif
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.rows, TWO_BLOCKS * multiprocessors()));
  two_reads_kernel<T><<<blocks, kMostThreads / TWO_BLOCKS, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace

int cross_entropy_cuda(const CrossEntropyArgs& args, CUstream_st* stream, CrossEntropyVariant variant) {
  if (args.rows == 0) return cudaSuccess;
  return with_storage(args.storage, [&](auto type) { return launch<decltype(type)>(args, stream, variant); });
}

int cross_entropy_scale_cuda(const std::int64_t* targets, std::int64_t rows, std::int64_t ignore_index,
                             std::int64_t valid_count, Reduction reduction, const float* grad_scale, float* scale,
                             CUstream_st* stream) {
  const bool counts = reduction == Reduction::kMean && valid_count < 0;
  scale_kernel<<<1, counts ? kMostThreads : kWarp, 0, stream>>>(targets, rows, ignore_index, valid_count, reduction,
                                                                grad_scale, scale);
  return cudaGetLastError();
}

int cross_entropy_total_cuda(const float* loss, std::int64_t rows, const float* factor, float* total,
                             CUstream_st* stream) {
  total_kernel<<<1, kMostThreads, 0, stream>>>(loss, rows, factor, total);
  return cudaGetLastError();
}

int scale_gradient_cuda(const ScaleGradientArgs& args, CUstream_st* stream) {
  if (args.rows == 0 || args.width == 0) return cudaSuccess;
  constexpr int kBlocksAProcessor = 8;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(args.rows, kBlocksAProcessor * multiprocessors()));
  return with_storage(args.storage, [&](auto type) -> int {
    scale_gradient_kernel<decltype(type)><<<blocks, kScaleThreads, 0, stream>>>(args);
    return cudaGetLastError();
  });
}

}  // namespace headroom::kernels
