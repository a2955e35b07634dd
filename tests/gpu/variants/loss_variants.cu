// Candidates for cross_entropy_spread.cu, which this file includes for what is in its unnamed namespace.
//
// held     a warp has a slice of the row in shared memory, takes it into registers as soon as it is there and sends for its
//          slice of the next row at once: the copy engine works while the warp takes exponentials, exchanges sums and stores
//          gradients from registers. No barrier of the block.
// slices   a warp has a slice of the row in shared memory throughout, as now the block has its stretch: no barrier of the
//          block, smaller blocks.
#include "kernels/cross_entropy/cross_entropy_spread.cu"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/gpu/variants/variants.h"

namespace headroom::kernels {

namespace {

constexpr int kMostSliceBlocks = 16;  // beyond 8 where the chip takes such clusters

// What a launch of the slices is made of.
struct SliceWay {
  int blocks, slice;        // of a row; vectors of a warp
  bool prefetches = false;  // the next row's slice is called into the L2 while this one is worked on
  bool persistent = true;   // else a cluster takes one row
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

// The sums of a row from its warps in all blocks of a cluster: each warp sends its part to all blocks.
template <typename T, int kWarps>
struct Exchange {
  float4 messages[2][kMostSliceBlocks * kWarps];  // of this row and the next: a warp may be one row ahead
  Arrival arrivals[2];

  __device__ void prepare() {
    arrivals[0].prepare();
    arrivals[1].prepare();
  }
  // All lanes hold `of_warp`. Answers the row's softmax to all lanes; `turn` counts the exchanges. `target_logit` goes
  // along from the first warp of the first block to all: so it was read before any block writes over it.
  __device__ SoftmaxPart whole(const SoftmaxPart& of_warp, float& target_logit, unsigned turn, int blocks, int rank,
                               bool smooths) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
    const unsigned slot = turn % 2, parity = turn / 2 % 2;
    if (threadIdx.x == 0) arrivals[slot].expect(static_cast<unsigned>(blocks * kWarps * sizeof(float4)));
    if (lane < blocks) {
      arrivals[slot].send(&messages[slot][rank * kWarps + warp],
                          make_float4(of_warp.shift, of_warp.sum, of_warp.total, target_logit),
                          static_cast<unsigned>(lane));
    }
    arrivals[slot].wait(parity);
    SoftmaxPart some;
    for (int i = lane; i < blocks * kWarps; i += kWarp) {
      const float4 other = messages[slot][i];
      some = merged<T>(some, {.shift = other.x, .sum = other.y, .total = other.z});
    }
    target_logit = messages[slot][0].w;
    return warp_merged<T>(some, smooths);
  }
};

// This warp's slice of a row, in numbers that take few registers: its first column, and its whole vectors.
struct Slice {
  int first, vectors;
};
template <typename T>
__device__ __forceinline__ Slice slice_of(const T* row, std::int64_t vocab, int index, int slice) {
  const RowPlan plan = plan_row(row, vocab);
  const int before = index * slice;
  return {.first = static_cast<int>(plan.head) + before * RowVector<T>::kWidth,
          .vectors = max(0, min(slice, static_cast<int>(plan.vectors) - before))};
}
// The column of this thread's single element, of those before the first and after the last vector of a row; or −1.
template <typename T>
__device__ __forceinline__ int single_of(const T* row, std::int64_t vocab, int thread) {
  const RowPlan plan = plan_row(row, vocab);
  return thread < static_cast<int>(plan.head + plan.tail) ? static_cast<int>(plan.single_column(thread)) : -1;
}
// A target within the vocabulary that is not ignored; or −1.
__device__ __forceinline__ int valid_target(const CrossEntropyArgs& args, int row) {
  const std::int64_t target = args.targets[row];
  return target == args.ignore_index || target < 0 || target >= args.vocab ? -1 : static_cast<int>(target);
}
__device__ __forceinline__ void prefetch_to_l2(const void* from, unsigned bytes) {
  if (bytes > 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

#endif

template <typename T, int kThreads, int kBlocks, int kHeld>
__global__ void __launch_bounds__(kThreads, kBlocks) held_slices_kernel(const CrossEntropyArgs args, SliceWay way) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Cluster = cg::cluster_group;
  constexpr int kWarps = kThreads / kWarp;
  extern __shared__ uint4 room[];
  __shared__ Exchange<T, kWarps> exchange;
  __shared__ Arrival arrivals[kWarps];
  const int blocks = static_cast<int>(Cluster::num_blocks()), rank = static_cast<int>(Cluster::block_rank());
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const int rows = static_cast<int>(args.rows), step = static_cast<int>(gridDim.x) / blocks;
  uint4* const my_room = room + warp * way.slice;
  const auto row_at = [&](int row) { return static_cast<const T*>(args.logits) + row * args.stride; };
  const auto slice_at = [&](int row) { return slice_of(row_at(row), args.vocab, rank * kWarps + warp, way.slice); };
  const auto request = [&](int row) {  // by one lane
    const Slice next = slice_at(row);
    arrivals[warp].begin(my_room, row_at(row) + next.first, static_cast<unsigned>(next.vectors * kVectorBytes));
  };
  int row = static_cast<int>(blockIdx.x) / blocks;
  if (thread == 0) {
    exchange.prepare();
    for (Arrival& arrival : arrivals) arrival.prepare();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  Cluster::sync();  // the barriers are prepared, and all blocks run: their shared memory may be written
  if (lane == 0 && row < rows) request(row);
  const bool smooths = args.label_smoothing != 0;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  int next_target = row < rows ? valid_target(args, row) : -1;
  unsigned turn = 0, exchanges = 0;
  for (; row < rows; row += step, turn ^= 1u) {
    const Slice mine = slice_at(row);
    const int target = next_target;
    if (row + step < rows) next_target = valid_target(args, row + step);
    const int single_column = rank == 0 ? single_of(row_at(row), args.vocab, thread) : -1;
    const float single = single_column >= 0 ? load(row_at(row)[single_column]) : -INFINITY;
    float target_logit = target >= 0 && rank == 0 && warp == 0 ? load(row_at(row)[target]) : 0.0f;
    arrivals[warp].wait(turn);
    RowVector<T> held[kHeld];
    RunningMax<T> most;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int i = k * kWarp + lane;
      held[k] = RowVector<T>::of_minus_infinity();
      if (i < mine.vectors) held[k] = RowVector<T>::load(my_room + i);
      most.add(held[k]);
    }
#pragma unroll
    for (RowVector<T>& vector : held) vector.keep_packed();  // they are read
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();  // by all lanes: the room may be filled again
    if (lane == 0 && row + step < rows) request(row + step);
    __syncwarp();
    if (target < 0) {
      row_counts<T>(args, row, args.targets[row], rank == 0);
      zero_row<T>(args, row, std::int64_t{rank} * kThreads + thread, std::int64_t{blocks} * kThreads);
      continue;
    }
    SoftmaxPart part;
    part.shift = fmaxf(most.value(), single) * Exponent<T>::kScale - Kept<T>::kRaise;
    const float shift = safe(part.shift);
    if (smooths) {
      part.total = single_column >= 0 ? single : 0.0f;
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        if (k * kWarp + lane < mine.vectors) part.total += sum_of(held[k]);
        held[k].keep_packed();
      }
    }
    part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      part.sum += Kept<T>::sum(held[k], shift);
      held[k].keep_packed();
    }
    const SoftmaxPart of_warp = warp_merged<T>(part, smooths);
    const SoftmaxPart whole = exchange.whole(of_warp, target_logit, exchanges++, blocks, rank, smooths);
    if (rank == 0 && thread == 0) {
      args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
    }
    if (args.dlogits == nullptr) continue;
    const RowGradient gradient = row_gradient(whole, scale, args.label_smoothing, args.vocab);
    const float factor = Kept<T>::factor(gradient, shift);
    T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int i = k * kWarp + lane;
      constexpr int kNowhere = -1;
      Kept<T>::gradient(gradient, factor, held[k], kNowhere);
      if (i < mine.vectors) held[k].store_streaming(out + mine.first + i * RowVector<T>::kWidth);
    }
    const int target_vector = (target - mine.first) / RowVector<T>::kWidth;
    if (target >= mine.first && target_vector < mine.vectors && target_vector % kWarp == lane) {
      store(out[target], gradient_of<T>(gradient, target_logit, true));  // after the same lane's vector
    }
    if (single_column >= 0) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
  }
  Cluster::sync();  // a block must not exit while another may still write to its shared memory
#endif
}

template <typename T, int kThreads, int kBlocks, bool kDirect>
__global__ void __launch_bounds__(kThreads, kBlocks) slices_kernel(const CrossEntropyArgs args, SliceWay way) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  using Cluster = cg::cluster_group;
  constexpr int kWarps = kThreads / kWarp;
  extern __shared__ uint4 room[];
  __shared__ Exchange<T, kWarps> exchange;
  __shared__ Arrival arrivals[kWarps];
  const int blocks = static_cast<int>(Cluster::num_blocks()), rank = static_cast<int>(Cluster::block_rank());
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const int rows = static_cast<int>(args.rows), step = static_cast<int>(gridDim.x) / blocks;
  uint4* const my_room = room + warp * way.slice;
  const auto row_at = [&](int row) { return static_cast<const T*>(args.logits) + row * args.stride; };
  const auto slice_at = [&](int row) { return slice_of(row_at(row), args.vocab, rank * kWarps + warp, way.slice); };
  const auto request = [&](int row) {  // by one lane
    const Slice next = slice_at(row);
    arrivals[warp].begin(my_room, row_at(row) + next.first, static_cast<unsigned>(next.vectors * kVectorBytes));
  };
  int row = static_cast<int>(blockIdx.x) / blocks;
  if (thread == 0) {
    exchange.prepare();
    for (Arrival& arrival : arrivals) arrival.prepare();
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  Cluster::sync();  // the barriers are prepared, and all blocks run: their shared memory may be written
  if (lane == 0 && row < rows) request(row);
  const bool smooths = args.label_smoothing != 0;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  int next_target = row < rows ? valid_target(args, row) : -1;
  unsigned turn = 0, exchanges = 0;
  for (; row < rows; row += step, turn ^= 1u) {
    const Slice mine = slice_at(row);
    const int target = next_target;
    if (row + step < rows) next_target = valid_target(args, row + step);
    const int single_column = rank == 0 ? single_of(row_at(row), args.vocab, thread) : -1;
    const float single = single_column >= 0 ? load(row_at(row)[single_column]) : -INFINITY;
    float target_logit = target >= 0 && rank == 0 && warp == 0 ? load(row_at(row)[target]) : 0.0f;
    arrivals[warp].wait(turn);
    if (way.prefetches && lane == 0 && row + step < rows) {
      const Slice next = slice_at(row + step);
      prefetch_to_l2(row_at(row + step) + next.first, static_cast<unsigned>(next.vectors * kVectorBytes));
    }
    T* to_write_back = nullptr;  // where the room goes as a whole
    if (target >= 0) {
      RunningMax<T> most;
#pragma unroll 4
      for (int i = lane; i < mine.vectors; i += kWarp) most.add(RowVector<T>::load(my_room + i));
      SoftmaxPart part;
      part.shift = fmaxf(most.value(), single) * Exponent<T>::kScale - Kept<T>::kRaise;
      const float shift = safe(part.shift);
      if (smooths) {
        part.total = single_column >= 0 ? single : 0.0f;
        for (int i = lane; i < mine.vectors; i += kWarp) part.total += sum_of(RowVector<T>::load(my_room + i));
      }
      part.sum = Exponent<T>::power_of(single, shift);
#pragma unroll 4
      for (int i = lane; i < mine.vectors; i += kWarp) {
        RowVector<T> value = RowVector<T>::load(my_room + i);
        part.sum += Kept<T>::sum(value, shift);
        if (Kept<T>::kChanges) value.store(my_room + i);
      }
      const SoftmaxPart of_warp = warp_merged<T>(part, smooths);
      const SoftmaxPart whole = exchange.whole(of_warp, target_logit, exchanges++, blocks, rank, smooths);
      if (rank == 0 && thread == 0) {
        args.loss[row] = row_loss<T>(whole, target_logit, args.label_smoothing, args.vocab);
      }
      if (args.dlogits != nullptr) {
        const RowGradient gradient = row_gradient(whole, scale, args.label_smoothing, args.vocab);
        const float factor = Kept<T>::factor(gradient, shift);
        T* const out = static_cast<T*>(args.dlogits) + row * args.stride;
        const bool aligned_alike = same_alignment<T>(row_at(row), out);
        const int target_here = target - mine.first;
#pragma unroll 4
        for (int i = lane; i < mine.vectors; i += kWarp) {
          RowVector<T> value = RowVector<T>::load(my_room + i);
          Kept<T>::gradient(gradient, factor, value, target_here - i * RowVector<T>::kWidth);
          if (!kDirect && aligned_alike) {
            value.store(my_room + i);
          } else {
            put_vector(out + mine.first + i * RowVector<T>::kWidth, value, aligned_alike);
          }
        }
        if (!kDirect && aligned_alike) to_write_back = out + mine.first;
        if (single_column >= 0) store(out[single_column], gradient_of<T>(gradient, single, single_column == target));
      }
    } else {
      row_counts<T>(args, row, args.targets[row], rank == 0);
      zero_row<T>(args, row, std::int64_t{rank} * kThreads + thread, std::int64_t{blocks} * kThreads);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // what this lane stored is seen by the copy engine
    __syncwarp();
    if (lane == 0) {
      if (to_write_back != nullptr && mine.vectors > 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to_write_back),
                     "r"(Arrival::shared_address(my_room)), "r"(mine.vectors * kVectorBytes)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");  // the room is read, so it may be filled again
      }
      if (row + step < rows) request(row + step);
    }
    __syncwarp();
  }
  if (lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // all gradients are written
  Cluster::sync();  // a block must not exit while another may still write to its shared memory
#endif
}

using SlicesKernel = void (*)(const CrossEntropyArgs, SliceWay);

// A candidate: its kernel, and how rows are cut for it.
struct SlicesPlan {
  const char* name;
  SlicesKernel kernel;
  int threads;
  int wanted_bytes;  // of a block
  bool exactly;      // more than that does not fit
  int most_blocks;
  bool prefetches = false, persistent = true;
};

// Writes what keeps it from this width, or nullptr.
const char* way_of(const SlicesPlan& plan, std::int64_t vectors, SliceWay& way) {
  const int wanted = plan.wanted_bytes / kVectorBytes, warps = plan.threads / kWarp;
  const std::int64_t needed = (vectors + wanted - 1) / wanted;
  if (plan.exactly && needed > plan.most_blocks) return "the row is too long";
  const auto blocks = static_cast<int>(std::clamp<std::int64_t>(needed, 1, plan.most_blocks));
  const std::int64_t slice = (vectors + blocks * warps - 1) / (blocks * warps);
  if (slice * warps * kVectorBytes > (220 << 10)) return "the row is too long";
  way = {
      .blocks = blocks, .slice = static_cast<int>(slice), .prefetches = plan.prefetches, .persistent = plan.persistent};
  return nullptr;
}

int launch_slices(const CrossEntropyArgs& args, const SlicesPlan& plan, const SliceWay& way, CUstream_st* stream) {
  const int bytes = way.slice * (plan.threads / kWarp) * kVectorBytes;
  cudaError_t error = cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess && way.blocks > 8)
    error = cudaFuncSetAttribute(plan.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (error != cudaSuccess) return error;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(way.blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(way.blocks));
  config.blockDim = dim3(static_cast<unsigned>(plan.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  std::int64_t taken = args.rows;
  if (way.persistent) {
    int clusters = 0;
    error = clusters_at_once(reinterpret_cast<const void*>(plan.kernel), config, clusters);
    if (error != cudaSuccess) return error;
    taken = std::min<std::int64_t>(args.rows, clusters);
  }
  config.gridDim = dim3(static_cast<unsigned>(taken * way.blocks));
  return cudaLaunchKernelEx(&config, plan.kernel, args, way);
}

template <int kThreads, int kBlocks, int kHeld>
constexpr SlicesPlan held_plan(const char* name, int most_blocks, bool persistent = true) {
  return {.name = name,
          .kernel = &held_slices_kernel<Bf16, kThreads, kBlocks, kHeld>,
          .threads = kThreads,
          .wanted_bytes = kThreads * kHeld * kVectorBytes,
          .exactly = true,
          .most_blocks = most_blocks,
          .persistent = persistent};
}

const SlicesPlan kPlans[] = {
    held_plan<128, 5, 16>("held 128 x 16, 5 an SM", 8),
    held_plan<128, 5, 16>("held 128 x 16, 5 an SM to 16 blocks", 16),
    held_plan<128, 4, 16>("held 128 x 16, 4 an SM", 8),
    held_plan<128, 4, 16>("held 128 x 16, 4 an SM to 16 blocks", 16),
    held_plan<256, 2, 16>("held 256 x 16, 2 an SM", 8),
    held_plan<256, 3, 8>("held 256 x 8, 3 an SM to 16 blocks", 16),
    held_plan<128, 4, 20>("held 128 x 20, 4 an SM", 8),
    held_plan<128, 4, 16>("held 128 x 16, a cluster a row", 16, false),
    {"slices 256 of 64 KiB", &slices_kernel<Bf16, 256, 3, false>, 256, 64 << 10, false, 8},
    {"slices 128 of 34 KiB", &slices_kernel<Bf16, 128, 6, false>, 128, 34 << 10, false, 8},
    {"slices 128 of 34 KiB to 16 blocks", &slices_kernel<Bf16, 128, 6, false>, 128, 34 << 10, false, 16},
    {"slices 128 of 34 KiB prefetch", &slices_kernel<Bf16, 128, 6, false>, 128, 34 << 10, false, 8, true},
    {"slices 256 of 64 KiB prefetch", &slices_kernel<Bf16, 256, 3, false>, 256, 64 << 10, false, 8, true},
    {"slices 128 of 34 KiB direct", &slices_kernel<Bf16, 128, 6, true>, 128, 34 << 10, false, 8},
    {"slices 256 of 64 KiB direct", &slices_kernel<Bf16, 256, 3, true>, 256, 64 << 10, false, 8},
};

}  // namespace

}  // namespace headroom::kernels

namespace headroom::test {

namespace {

using kernels::CrossEntropyArgs;
using kernels::Storage;

constexpr std::int64_t kIgnored = -100;

std::vector<std::int64_t> make_targets(std::int64_t rows, std::int64_t vocab, std::int64_t skip) {
  std::vector<std::int64_t> targets(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool ignored = skip > 0 && row % skip == skip - 1;
    targets[static_cast<std::size_t>(row)] = ignored ? kIgnored : (row * 7919 + 13) % vocab;
  }
  return targets;
}

// A small problem whose expected results the current kernel made.
class Checked {
 public:
  // `offset`: elements by which rows miss a 16-byte boundary at first; rows are `vocab` apart, so odd ones move on.
  Checked(std::int64_t rows, std::int64_t vocab, std::int64_t offset, bool in_place, float smoothing)
      : rows_(rows),
        vocab_(vocab),
        offset_(offset),
        in_place_(in_place),
        smoothing_(smoothing),
        logits_((rows * vocab + offset) * 2),
        work_(logits_.bytes()),
        out_(logits_.bytes() + 2 * kBeside),
        expected_(in_place ? logits_.bytes() : out_.bytes()),
        targets_(rows * 8),
        loss_(rows * 4),
        expected_loss_(rows * 4) {
    logits_.fill(Storage::kBf16, 7, 3.0f);
    targets_.upload(make_targets(rows, vocab, 5).data());
    const Memory& made =
        compute([&](const CrossEntropyArgs& args) { return kernels::cross_entropy_spread_cuda(args, nullptr); });
    expected_.copy_from(made);
    expected_loss_.copy_from(loss_);
  }
  double error_of(const std::function<int(const CrossEntropyArgs&)>& launch) {
    const Memory& made = compute(launch);
    return std::max(relative_error(made, expected_, Format::kBf16),
                    relative_error(loss_, expected_loss_, Format::kFp32));
  }

 private:
  const Memory& compute(const std::function<int(const CrossEntropyArgs&)>& launch) {
    work_.copy_from(logits_);
    out_.fill_bytes(0);  // the elements before the first row are compared, too
    loss_.fill_bytes(0xff);
    const auto at = [&](const Memory& memory) { return memory.as<kernels::Bf16>() + offset_; };
    const CrossEntropyArgs args{.storage = Storage::kBf16,
                                .logits = at(work_),
                                .dlogits = in_place_ ? at(work_) : at(out_) + kBeside,
                                .targets = targets_.as<std::int64_t>(),
                                .loss = loss_.as<float>(),
                                .rows = rows_,
                                .vocab = vocab_,
                                .stride = vocab_,
                                .ignore_index = kIgnored,
                                .label_smoothing = smoothing_};
    must_end(launch(args));
    return in_place_ ? work_ : out_;
  }

  static constexpr std::int64_t kBeside = 8;  // elements by which the gradient is elsewhere: its rows are aligned alike

  std::int64_t rows_, vocab_, offset_;
  bool in_place_;
  float smoothing_;
  Memory logits_, work_, out_, expected_, targets_, loss_, expected_loss_;
};

void measure_loss(Measurement& measurement, std::int64_t rows, std::int64_t vocab) {
  const Memory logits(rows * vocab * 2), targets(rows * 8), loss(rows * 4);
  logits.fill(Storage::kBf16, 1, 3.0f);
  targets.upload(make_targets(rows, vocab, 0).data());
  const CrossEntropyArgs args{.storage = Storage::kBf16,
                              .logits = logits.data(),
                              .dlogits = logits.data(),
                              .targets = targets.as<std::int64_t>(),
                              .loss = loss.as<float>(),
                              .rows = rows,
                              .vocab = vocab,
                              .stride = vocab};
  // More rows than run at once; in place; odd rows at odd places, beside, smoothed.
  std::vector<std::unique_ptr<Checked>> checks;
  checks.push_back(std::make_unique<Checked>(700, vocab, 0, true, 0.0f));
  checks.push_back(std::make_unique<Checked>(300, vocab - 3, 1, true, 0.0f));
  checks.push_back(std::make_unique<Checked>(200, vocab - 5, 3, false, 0.1f));
  std::vector<Variant> variants{
      {"current", [&] { return kernels::cross_entropy_spread_cuda(args, nullptr); }, [] { return 0.0; }}};
  for (const kernels::SlicesPlan& plan : kernels::kPlans) {
    kernels::SliceWay way{};
    if (kernels::way_of(plan, vocab * 2 / kernels::kVectorBytes, way) != nullptr) continue;
    variants.push_back({plan.name, [&plan, &args, way] { return kernels::launch_slices(args, plan, way, nullptr); },
                        [&plan, &checks] {
                          double worst = 0;
                          for (const auto& check : checks) {
                            worst = std::max(worst, check->error_of([&](const CrossEntropyArgs& checked) -> int {
                              kernels::SliceWay checked_way{};
                              if (kernels::way_of(plan, checked.vocab * 2 / kernels::kVectorBytes, checked_way) !=
                                  nullptr)
                                throw std::runtime_error("too long");
                              return kernels::launch_slices(checked, plan, checked_way, nullptr);
                            }));
                          }
                          return worst;
                        }});
  }
  measurement.measure(2 * rows * vocab * 2, variants);
}

}  // namespace

std::vector<Job> loss_jobs() {
  std::vector<Job> jobs;
  for (const std::int64_t vocab : {128256, 81920, 40960, 163840, 262144, 102400}) {
    jobs.push_back({"cross_entropy", "8192x" + std::to_string(vocab),
                    [vocab](Measurement& measurement) { measure_loss(measurement, 8192, vocab); }});
  }
  // A chunk of the output layer's loss.
  jobs.push_back(
      {"cross_entropy", "1024x128256", [](Measurement& measurement) { measure_loss(measurement, 1024, 128256); }});
  return jobs;
}

}  // namespace headroom::test
