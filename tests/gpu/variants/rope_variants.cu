// Candidates for rope.cu: the number of heads a thread by what divides the heads, other blocks, streaming accesses, places by
// 32-bit numbers.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/rope/rope.h"
#include "kernels/row_norm/row_norm_parts.cuh"
#include "tests/gpu/variants/variants.h"

namespace headroom::kernels {

namespace {

using row_norm::Numbers;

__device__ __forceinline__ uint4 load_bits(const void* place, bool streams) {
  const auto* const bits = static_cast<const uint4*>(place);
  return streams ? __ldcs(bits) : *bits;
}
__device__ __forceinline__ void store_bits(void* place, const uint4& value, bool streams) {
  auto* const bits = static_cast<uint4*>(place);
  if (streams) {
    __stcs(bits, value);
  } else {
    *bits = value;
  }
}

// As rope_kernel, in vectors of 16 bytes, with `pieces` of a head a power of two, 1 << shift. threadIdx.x is a piece of a
// group of heads, threadIdx.y a token of the block, blockIdx.y walks the batch.
template <typename T, int kHeads, int kThreads, bool kStreams>
__global__ void __launch_bounds__(kThreads) rope_heads_kernel(const RopeArgs args, int groups, int shift) {
  constexpr int kWidth = Vector<T>::kWidth;
  const std::int64_t t = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (t >= args.length) return;
  const int half = static_cast<int>(args.head_dim / 2);
  const int q_heads = static_cast<int>(args.q.heads), all_heads = q_heads + static_cast<int>(args.k.heads);
  const int q_stride = static_cast<int>(args.q.head_stride), k_stride = static_cast<int>(args.k.head_stride);
  for (int item = threadIdx.x; item < groups << shift; item += blockDim.x) {
    const int group = item >> shift;
    const int j = (item & ((1 << shift) - 1)) * kWidth;
    const std::int64_t angle = t * half + j;
    for (std::int64_t b = blockIdx.y; b < args.batch; b += gridDim.y) {
      T* const q = static_cast<T*>(args.q.data) + b * args.q.batch_stride + t * args.q.time_stride + j;
      T* const k = static_cast<T*>(args.k.data) + b * args.k.batch_stride + t * args.k.time_stride + j;
      T* place[kHeads];
      uint4 low[kHeads], high[kHeads];  // packed until they are turned
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        const int head = group + i * groups;
        place[i] = head < q_heads ? q + head * q_stride : k + (head - q_heads) * k_stride;
        if (head >= all_heads) continue;
        low[i] = load_bits(place[i], kStreams);
        high[i] = load_bits(place[i] + half, kStreams);
      }
      const Pack<float, kWidth> cos = load_pack<kWidth>(args.cos + angle);
      Pack<float, kWidth> sin = load_pack<kWidth>(args.sin + angle);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sin.element[e] = args.inverse ? -sin.element[e] : sin.element[e];
#pragma unroll
      for (int i = 0; i < kHeads; ++i) {
        if (group + i * groups >= all_heads) continue;
        row_norm::keep_packed(low[i]);
        row_norm::keep_packed(high[i]);
        Numbers<T> x(low[i]), y(high[i]);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          const float a = x.at[e], other = y.at[e], c = cos.element[e], s = sin.element[e];
          // Said which product is rounded, so that all variants give the same bits.
          x.at[e] = fmaf(a, c, -__fmul_rn(other, s));
          y.at[e] = fmaf(other, c, __fmul_rn(a, s));
        }
        store_bits(place[i], x.packed(), kStreams);
        store_bits(place[i] + half, y.packed(), kStreams);
      }
    }
  }
}

template <typename T, int kHeads, int kThreads, bool kStreams>
int launch_rope_heads(const RopeArgs& args) {
  const auto all_heads = static_cast<int>(args.q.heads + args.k.heads);
  const int groups = (all_heads + kHeads - 1) / kHeads;
  const auto pieces = static_cast<int>(args.head_dim / 2 / Vector<T>::kWidth);
  if ((pieces & (pieces - 1)) != 0 || pieces == 0) return cudaErrorInvalidConfiguration;
  int shift = 0;
  while (1 << shift < pieces) ++shift;
  const int items = std::min(groups * pieces, kThreads);
  const int tokens = std::clamp(kThreads / items, 1, 64);
  const dim3 block(static_cast<unsigned>(items), static_cast<unsigned>(tokens));
  const dim3 grid(static_cast<unsigned>((args.length + tokens - 1) / tokens),
                  static_cast<unsigned>(std::min<std::int64_t>(args.batch, 65535)));
  rope_heads_kernel<T, kHeads, kThreads, kStreams><<<grid, block>>>(args, groups, shift);
  return cudaGetLastError();
}

}  // namespace

}  // namespace headroom::kernels

namespace headroom::test {

namespace {

using kernels::Bf16;
using kernels::RopeArgs;
using kernels::Storage;

struct RopeShape {
  std::int64_t batch, length, q_heads, k_heads, head_dim;
};

class Rope {
 public:
  explicit Rope(const RopeShape& shape)
      : shape_(shape),
        q_(shape.batch * shape.length * shape.q_heads * shape.head_dim * 2),
        k_(shape.batch * shape.length * shape.k_heads * shape.head_dim * 2),
        cos_(shape.length * shape.head_dim * 2),
        sin_(cos_.bytes()),
        expected_q_(q_.bytes()),
        expected_k_(k_.bytes()) {
    cos_.fill(Storage::kFp32, 3, 0.5f);
    sin_.fill(Storage::kFp32, 4, 0.5f);
    refill();
    must_end(kernels::rope_cuda(args(), nullptr));
    expected_q_.copy_from(q_);
    expected_k_.copy_from(k_);
  }
  RopeArgs args() const {
    const std::int64_t q_width = shape_.q_heads * shape_.head_dim, k_width = shape_.k_heads * shape_.head_dim;
    return {.q = {q_.data(), shape_.q_heads, shape_.length * q_width, q_width, shape_.head_dim},
            .k = {k_.data(), shape_.k_heads, shape_.length * k_width, k_width, shape_.head_dim},
            .cos = cos_.as<float>(),
            .sin = sin_.as<float>(),
            .batch = shape_.batch,
            .length = shape_.length,
            .head_dim = shape_.head_dim,
            .inverse = false,
            .storage = Storage::kBf16};
  }
  double error_of(const std::function<int(const RopeArgs&)>& launch) const {
    refill();
    must_end(launch(args()));
    return std::max(relative_error(q_, expected_q_, Format::kBf16), relative_error(k_, expected_k_, Format::kBf16));
  }
  std::int64_t bytes() const { return 2 * (q_.bytes() + k_.bytes()); }
  // Turning again and again with tables that are no rotation would let numbers grow beyond bf16.
  void refill() const {
    q_.fill(Storage::kBf16, 1);
    k_.fill(Storage::kBf16, 2);
  }

 private:
  RopeShape shape_;
  Memory q_, k_, cos_, sin_, expected_q_, expected_k_;
};

template <int kHeads>
void add(std::vector<std::pair<std::string, std::function<int(const RopeArgs&)>>>& ways) {
  using kernels::launch_rope_heads;
  const std::string heads = std::to_string(kHeads) + " heads ";
  ways.emplace_back(heads + "128", &launch_rope_heads<Bf16, kHeads, 128, false>);
  ways.emplace_back(heads + "256", &launch_rope_heads<Bf16, kHeads, 256, false>);
  ways.emplace_back(heads + "512", &launch_rope_heads<Bf16, kHeads, 512, false>);
  ways.emplace_back(heads + "128 streaming", &launch_rope_heads<Bf16, kHeads, 128, true>);
  ways.emplace_back(heads + "256 streaming", &launch_rope_heads<Bf16, kHeads, 256, true>);
}

void measure_rope(Measurement& measurement, const RopeShape& shape) {
  const Rope large(shape), odd({3, 129, shape.q_heads + 1, shape.k_heads, shape.head_dim});
  std::vector<std::pair<std::string, std::function<int(const RopeArgs&)>>> ways;
  ways.emplace_back("current", [](const RopeArgs& args) { return kernels::rope_cuda(args, nullptr); });
  add<4>(ways);
  add<5>(ways);
  add<2>(ways);
  std::vector<Variant> variants;
  for (const auto& [name, launch] : ways) {
    variants.push_back(
        {name, [&large, &launch = launch] { return launch(large.args()); },
         [&large, &odd, &launch = launch] { return std::max(large.error_of(launch), odd.error_of(launch)); }});
  }
  measurement.measure(large.bytes(), variants);
}

}  // namespace

std::vector<Job> rope_jobs() {
  std::vector<Job> jobs;
  const auto add_job = [&](const std::string& name, const RopeShape& shape) {
    jobs.push_back({"rope", name, [shape](Measurement& measurement) { measure_rope(measurement, shape); }});
  };
  add_job("3B 1x8192", {1, 8192, 24, 8, 128});
  add_job("3B 4x2048", {4, 2048, 24, 8, 128});
  add_job("1B 1x8192", {1, 8192, 32, 8, 64});
  add_job("8B 1x8192", {1, 8192, 32, 8, 128});
  return jobs;
}

}  // namespace headroom::test
