// Candidates for adamw_8bit.cu, which this file includes for what is in its unnamed namespace. Compiled with --fmad=false.
//
// cells    codes by cells (kernels/common/dynamic_cells.h) and values by tables of which each bank, or some, has a copy, so
//          that the lanes of a warp seldom meet in a bank; blocks stay, since the tables take a while to fill.
#include "kernels/adamw_8bit/adamw_8bit.cu"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/common/dynamic_cells.h"
#include "kernels/row_norm/row_norm_parts.cuh"
#include "tests/gpu/variants/variants.h"

namespace headroom::kernels {

namespace {

__device__ const DynamicCells kSignedCells = dynamic_cells(true);
__device__ const DynamicCells kUnsignedCells = dynamic_cells(false);

// The maps at hand in shared memory: a value stands kCopies times, lane l reads copy l mod kCopies.
template <int kCopies>
struct CellMaps {
  DynamicCells first_cells, second_cells;
  float first_value[256][kCopies], second_value[256][kCopies];
  SharedMap first, second;  // for blocks at the end of a tensor

  __device__ void fill() {
    for (int i = threadIdx.x; i < 256 * kCopies; i += blockDim.x) {
      first_value[i / kCopies][i % kCopies] = kSignedMap.value[i / kCopies];
      second_value[i / kCopies][i % kCopies] = kUnsignedMap.value[i / kCopies];
    }
    constexpr int kVectors = sizeof(DynamicCells) / sizeof(uint4);
    for (int i = threadIdx.x; i < kVectors; i += blockDim.x) {
      reinterpret_cast<uint4*>(&first_cells)[i] = reinterpret_cast<const uint4*>(&kSignedCells)[i];
      reinterpret_cast<uint4*>(&second_cells)[i] = reinterpret_cast<const uint4*>(&kUnsignedCells)[i];
    }
    first.fill(kSignedMap);
    second.fill(kUnsignedMap);
  }
};

// The value of byte `k` of a word of codes.
template <int kCopies>
__device__ __forceinline__ float value_of(const float (&values)[256][kCopies], std::uint32_t word, int k,
                                          int lane_bytes) {
  constexpr int kShift = kCopies == 32 ? 7 : kCopies == 16 ? 6 : kCopies == 8 ? 5 : 2;
  static_assert(kCopies * 4 == 1 << kShift);
  const std::uint32_t moved = 8 * k >= kShift ? word >> (8 * k - kShift) : word << (kShift - 8 * k);
  const std::uint32_t place = (moved & (0xffu << kShift)) | static_cast<std::uint32_t>(lane_bytes);
  return *reinterpret_cast<const float*>(reinterpret_cast<const char*>(&values) + place);
}

// A magnitude's code in the third byte, what is above it being of no use. 2^−24 ≤ magnitude ≤ 1 + 2^−23.
__device__ __forceinline__ std::uint32_t cell_code(const DynamicCells& cells, float magnitude) {
  const std::uint32_t bits = bits_of(magnitude);
  return cells.number[static_cast<int>(bits >> 16) - static_cast<int>(kFirstCell)] + bits;
}

// The bytes of four words, of each the one that `selector` names: 2 or 3.
template <int kByte>
__device__ __forceinline__ std::uint32_t gathered(const std::uint32_t (&words)[4]) {
  constexpr unsigned kTwo = kByte | (4 + kByte) << 4;
  return __byte_perm(__byte_perm(words[0], words[1], kTwo), __byte_perm(words[2], words[3], kTwo), 0x5410);
}

constexpr float kLeastMagnitude = 0x1p-24f;

// Four codes in a word, of numbers times `inverse`; the same as dynamic_code<true>.
__device__ __forceinline__ std::uint32_t first_codes(const float* values, float inverse, const DynamicCells& cells) {
  constexpr float kMost = BelowOne<true>::kValue;  // −1 has no code of its own
  std::uint32_t sums[4], signs[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float x = values[k] * inverse;
    signs[k] = bits_of(x);
    sums[k] = cell_code(cells, fmaxf(fabsf(fmaxf(x, -kMost)), kLeastMagnitude));
  }
  const std::uint32_t codes = gathered<2>(sums);
  const std::uint32_t has_sign = (codes & 0x7f7f7f7fu) + 0x7f7f7f7fu;  // in bit 7: neither 0 nor 128
  return codes | (gathered<3>(signs) & has_sign & 0x80808080u);
}

// The same as dynamic_code<false>, of numbers that are not below 0 and, times `inverse`, at most 1: no NaN.
__device__ __forceinline__ std::uint32_t second_codes(const float* values, float inverse, const DynamicCells& cells) {
  std::uint32_t sums[4], least = 0xffffffffu;
  float x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    x[k] = values[k] * inverse;
    sums[k] = cell_code(cells, fmaxf(x[k], kLeastMagnitude));
    least = min(least, bits_of(x[k]));
  }
  // The cells of 1 end at 256, the code of 1 is 1: what is 0 until here.
  std::uint32_t codes = gathered<2>(sums);
  const std::uint32_t others = codes | ((codes & 0x7f7f7f7fu) + 0x7f7f7f7fu);  // in bit 7: not 0
  codes |= (~others & 0x80808080u) >> 7;
  if (least == 0) {  // where a gradient always was 0
#pragma unroll
    for (int k = 0; k < 4; ++k) codes &= x[k] == 0.0f ? ~(0xffu << (8 * k)) : 0xffffffffu;
  }
  return codes;
}

// As quick_step, with products and sums rounded once where they can be: the parameter has no CPU's bits to keep.
__device__ __forceinline__ float fused_step(float param, float m, float v, const AdamWStep& step) {
  float root, inverse;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaf(root, step.second_moment_scale, step.epsilon)));
  return fmaf(step.decay, param, -(step.step_size * m * inverse));
}

// A lane's part of a whole block on 16 bytes, as it lies in memory.
template <typename P, typename G>
struct Packed {
  static constexpr int kParamPieces = kPack * sizeof(P) / kVectorBytes;
  static constexpr int kGradientPieces = kPack * sizeof(G) / kVectorBytes;
  uint4 p[kParamPieces], g[kGradientPieces];
  uint2 m_words, v_words;
  float m_absmax, v_absmax;

  __device__ __forceinline__ void load(const AdamW8bitTensor& tensor, std::int64_t block, int lane) {
    const std::int64_t mine = block * kQuantisedBlock + lane * kPack;
    const auto* const param = reinterpret_cast<const uint4*>(static_cast<const P*>(tensor.param) + mine);
    const auto* const gradient = reinterpret_cast<const uint4*>(static_cast<const G*>(tensor.gradient) + mine);
#pragma unroll
    for (int i = 0; i < kParamPieces; ++i) p[i] = param[i];
#pragma unroll
    for (int i = 0; i < kGradientPieces; ++i) g[i] = gradient[i];
    m_words = *reinterpret_cast<const uint2*>(tensor.m_codes + mine);
    v_words = *reinterpret_cast<const uint2*>(tensor.v_codes + mine);
    m_absmax = tensor.m_absmax[block];
    v_absmax = tensor.v_absmax[block];
  }
};

// A warp's step over one whole block on 16 bytes.
template <typename P, typename G, typename W, int kCopies>
__device__ __forceinline__ void step_cells(const AdamW8bitTensor& tensor, const Packed<P, G>& packed,
                                           std::int64_t block, int lane, const Shared& shared,
                                           const CellMaps<kCopies>& maps) {
  using row_norm::Numbers;
  const std::int64_t mine = block * kQuantisedBlock + lane * kPack;
  auto* const param = reinterpret_cast<uint4*>(static_cast<P*>(tensor.param) + mine);
  const int lane_bytes = lane % kCopies * 4;

  float m[kPack], v[kPack], moved[kPack];
  unsigned m_largest = 0, v_largest = 0;
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    constexpr int kParamWidth = row_norm::kElements<P>, kGradientWidth = row_norm::kElements<G>;
    m[k] = value_of<kCopies>(maps.first_value, k < 4 ? packed.m_words.x : packed.m_words.y, k % 4, lane_bytes) *
           packed.m_absmax;
    v[k] = value_of<kCopies>(maps.second_value, k < 4 ? packed.v_words.x : packed.v_words.y, k % 4, lane_bytes) *
           packed.v_absmax;
    const float g = Numbers<G>(packed.g[k / kGradientWidth]).at[k % kGradientWidth];
    adamw_moments(g * shared.gradient_scale, m[k], v[k], shared.step);
    moved[k] = fused_step(Numbers<P>(packed.p[k / kParamWidth]).at[k % kParamWidth], m[k], v[k], shared.step);
    m_largest = max(m_largest, bits_of(m[k]) & 0x7fffffffu);
    v_largest = max(v_largest, bits_of(v[k]));  // never negative, but for a NaN
  }
  bool stochastic = false;
  if constexpr (std::is_same_v<P, Bf16>) {
    stochastic = shared.stochastic;
    if (stochastic) {
      Pack<P, kPack> p;
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        const std::int64_t i = mine + k;
        const std::uint32_t random = rounding_bits(shared.key, i / 2) >> (static_cast<int>(i % 2) * 16);
        p.element[k].bits = rounded_stochastically(moved[k], random & 0xffffu);
      }
      store_pack(static_cast<P*>(tensor.param) + mine, p);
    }
  }
  if (!stochastic) {
#pragma unroll
    for (int i = 0; i < Packed<P, G>::kParamPieces; ++i) {
      Numbers<P> numbers;
#pragma unroll
      for (int e = 0; e < row_norm::kElements<P>; ++e) numbers.at[e] = moved[i * row_norm::kElements<P> + e];
      param[i] = numbers.packed();
    }
  }
  if constexpr (!std::is_same_v<W, NoCopy>) {
    Pack<W, kPack> w;
#pragma unroll
    for (int k = 0; k < kPack; ++k) store(w.element[k], moved[k]);
    store_pack(static_cast<W*>(tensor.working) + mine, w);
  }
  const float m_new = float_of(__reduce_max_sync(0xffffffffu, m_largest));
  const float v_new = float_of(__reduce_max_sync(0xffffffffu, v_largest) & 0x7fffffffu);
  const float m_inverse = inverse_absmax(m_new);
  float v_inverse = inverse_absmax(v_new);
  if (!(v_new < INFINITY)) {  // the inverse is 0 then: what is no number has the code of 1, others that of 0
    v_inverse = 1;
#pragma unroll
    for (float& value : v) value = value < INFINITY ? 0.0f : 1.0f;
  }
  *reinterpret_cast<uint2*>(tensor.m_codes + mine) =
      make_uint2(first_codes(m, m_inverse, maps.first_cells), first_codes(m + 4, m_inverse, maps.first_cells));
  *reinterpret_cast<uint2*>(tensor.v_codes + mine) =
      make_uint2(second_codes(v, v_inverse, maps.second_cells), second_codes(v + 4, v_inverse, maps.second_cells));
  if (lane == 0) {
    tensor.m_absmax[block] = m_new;
    tensor.v_absmax[block] = v_new;
  }
}

// Each block takes every gridDim.x-th of the batch's parts, of kWarpBlocks quantized blocks a warp.
template <typename P, typename G, typename W, int kThreads, int kBlocks, int kCopies, bool kAhead>
__global__ void __launch_bounds__(kThreads, kBlocks)
    adamw_cells_kernel(const __grid_constant__ Batch batch, AdamWStep step, AdamWSwitches switches, int warp_blocks) {
  extern __shared__ uint4 maps_memory[];
  __shared__ AdamWStep corrected;
  constexpr int kWarpsHere = kThreads / kWarp;
  auto& maps = *reinterpret_cast<CellMaps<kCopies>*>(maps_memory);
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  maps.fill();
  if (threadIdx.x == 0) {
    corrected = step;
    if (switches.step_count != nullptr) set_bias_corrections(corrected, *switches.step_count);
  }
  __syncthreads();
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  Shared shared{.step = corrected,
                .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
                .stochastic = switches.stochastic_rounding,
                .key = {}};
  const float decay = shared.step.decay;
  const unsigned parts = batch.first_block[batch.count];
  for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
    const int which = batch.tensor_of(part);
    const AdamW8bitTensor& tensor = batch.tensor[which];
    if (shared.stochastic) shared.key = rounding_key(switches.seed, corrected.t, tensor.number);
    shared.step.decay = tensor.decays ? decay : 1.0f;
    const bool wide = aligned_all(static_cast<const P*>(tensor.param), static_cast<const G*>(tensor.gradient),
                                  tensor.m_codes, tensor.v_codes, static_cast<const W*>(tensor.working));
    std::int64_t block = std::int64_t{part - batch.first_block[which]} * kWarpsHere * warp_blocks + warp;
    const auto whole = [&](std::int64_t which_block) {
      return wide && (which_block + 1) * kQuantisedBlock <= tensor.n;
    };
    Packed<P, G> next;
    if (kAhead && whole(block)) next.load(tensor, block, lane);
    for (int i = 0; i < warp_blocks && block * kQuantisedBlock < tensor.n; ++i, block += kWarpsHere) {
      if (whole(block)) {
        if (!kAhead) next.load(tensor, block, lane);
        const Packed<P, G> packed = next;
        if (kAhead && i + 1 < warp_blocks && whole(block + kWarpsHere)) next.load(tensor, block + kWarpsHere, lane);
        step_cells<P, G, W, kCopies>(tensor, packed, block, lane, shared, maps);
      } else {
        const Place<false> place{block * kQuantisedBlock, tensor.n, lane};
        step_block<P, G, W>(tensor, place, shared, maps.first, maps.second);
      }
    }
  }
}

template <typename P, typename G, typename W, int kThreads, int kBlocks, int kCopies, bool kAhead>
int launch_cells(std::span<const AdamW8bitTensor> tensors, const AdamWStep& step, const AdamWSwitches& switches,
                 int warp_blocks, CUstream_st* stream) {
  const auto kernel = adamw_cells_kernel<P, G, W, kThreads, kBlocks, kCopies, kAhead>;
  constexpr int kBytes = sizeof(CellMaps<kCopies>);
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  const std::int64_t part_elements = std::int64_t{kThreads / kWarp} * warp_blocks * kQuantisedBlock;
  return for_each_batch<kMostTensors>(tensors, part_elements, [&](const Batch& batch, unsigned parts) -> int {
    const unsigned blocks = std::min(parts, static_cast<unsigned>(kBlocks * multiprocessors()));
    kernel<<<blocks, kThreads, kBytes, stream>>>(batch, step, switches, warp_blocks);
    return cudaGetLastError();
  });
}

}  // namespace

}  // namespace headroom::kernels

namespace headroom::test {

namespace {

using kernels::AdamW8bitTensor;
using kernels::Bf16;
using kernels::Storage;
using Tensors = std::span<const AdamW8bitTensor>;
using Launch = std::function<int(Tensors, const kernels::AdamWStep&, const kernels::AdamWSwitches&)>;

constexpr kernels::AdamWTypes kTypes{.param = Storage::kBf16, .gradient = Storage::kBf16};

kernels::AdamWStep step_at(std::int64_t t) {
  kernels::AdamWStep step{.decay = 1 - 1e-4f,
                          .beta1 = 0.9f,
                          .beta2 = 0.95f,
                          .step_size = 0,
                          .second_moment_scale = 0,
                          .epsilon = 1e-8f,
                          .t = t,
                          .learning_rate = 1e-3,
                          .exact_beta1 = 0.9,
                          .exact_beta2 = 0.95};
  kernels::set_bias_corrections(step, t);
  return step;
}

// Some tensors in one memory each; `skip` elements from its begin.
class Weights {
 public:
  Weights(const std::vector<std::int64_t>& sizes, std::int64_t skip) {
    for (const std::int64_t n : sizes) {
      const auto of = [&](std::int64_t bytes) {
        memory_.push_back(std::make_unique<Memory>(bytes));
        return memory_.back().get();
      };
      const Memory *p = of((n + skip) * 2), *g = of((n + skip) * 2), *m = of(n + skip), *v = of(n + skip);
      const Memory *a = of(4 * kernels::quantised_blocks(n)), *b = of(4 * kernels::quantised_blocks(n));
      tensors_.push_back({.param = p->as<Bf16>() + skip,
                          .gradient = g->as<Bf16>() + skip,
                          .m_codes = m->as<std::uint8_t>() + skip,
                          .m_absmax = a->as<float>(),
                          .v_codes = v->as<std::uint8_t>() + skip,
                          .v_absmax = b->as<float>(),
                          .n = n,
                          .decays = n > 4096,
                          .number = static_cast<std::int64_t>(tensors_.size())});
      bytes_ += 3 * n * 2 + 4 * n + 16 * kernels::quantised_blocks(n);
    }
    begin();
  }
  // As before the first step.
  void begin() const {
    for (std::size_t i = 0; i < memory_.size(); i += 6) {
      memory_[i]->fill(Storage::kBf16, 1);
      memory_[i + 1]->fill(Storage::kBf16, 2, 0.01f);
      for (std::size_t k = 2; k < 6; ++k) memory_[i + k]->fill_bytes(0);
    }
  }
  // Three steps with gradients of different size, some of them zero.
  void steps(const Launch& launch, bool stochastic) const {
    begin();
    for (std::int64_t t = 1; t <= 3; ++t) {
      for (std::size_t i = 1; i < memory_.size(); i += 6) {
        memory_[i]->fill(Storage::kBf16, static_cast<std::uint64_t>(10 * t), t == 2 ? 1e-6f : 0.01f);
        if (t == 1) must(cudaMemset(memory_[i]->data(), 0, static_cast<std::size_t>(memory_[i]->bytes() / 3)));
      }
      must_end(launch(tensors_, step_at(t), {.stochastic_rounding = stochastic, .seed = 5}));
    }
  }
  double error_against(const Weights& expected) const {
    double worst = 0;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const std::size_t of = i % 6;
      const Format format = of < 2 ? Format::kBf16 : of < 4 ? Format::kByte : Format::kFp32;
      worst = std::max(worst, relative_error(*memory_[i], *expected.memory_[i], format));
    }
    return worst;
  }
  const std::vector<AdamW8bitTensor>& tensors() const { return tensors_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<AdamW8bitTensor> tensors_;
  std::int64_t bytes_ = 0;
};

int current(Tensors tensors, const kernels::AdamWStep& step, const kernels::AdamWSwitches& switches) {
  return kernels::adamw_8bit_cuda(tensors, kTypes, step, switches, nullptr);
}

template <int kThreads, int kBlocks, int kCopies, bool kAhead = false>
Launch cells(int warp_blocks) {
  return [warp_blocks](Tensors tensors, const kernels::AdamWStep& step, const kernels::AdamWSwitches& switches) {
    return kernels::launch_cells<Bf16, Bf16, kernels::NoCopy, kThreads, kBlocks, kCopies, kAhead>(
        tensors, step, switches, warp_blocks, nullptr);
  };
}

void measure_adamw(Measurement& measurement, const std::vector<std::int64_t>& sizes) {
  const std::vector<std::int64_t> odd_sizes{1, 7, 0, 255, 256, 4096, 100'003, 1'300'001};
  const Weights large(sizes, 0), small(odd_sizes, 0), expected_small(odd_sizes, 0), shifted(odd_sizes, 1),
      expected_shifted(odd_sizes, 1), some({5'000'000}, 0), expected_some({5'000'000}, 0);
  expected_small.steps(&current, false);
  expected_shifted.steps(&current, true);
  expected_some.steps(&current, true);
  const std::vector<std::pair<std::string, Launch>> ways{
      {"current", &current},
      {"cells 32 copies 384 x 2", cells<384, 2, 32>(4)},
      {"cells 32 copies 384 x 2 a block a warp", cells<384, 2, 32>(1)},
      {"cells 32 copies 384 x 2 ahead", cells<384, 2, 32, true>(8)},
      {"cells 16 copies 256 x 3", cells<256, 3, 16>(4)},
      {"cells 32 copies 512 x 2", cells<512, 2, 32>(4)},
      {"cells 8 copies 256 x 4", cells<256, 4, 8>(4)},
      {"cells 32 copies 512 x 1 ahead", cells<512, 1, 32, true>(8)},
  };
  const kernels::AdamWStep step = step_at(1);
  std::vector<Variant> variants;
  for (const auto& [name, launch] : ways) {
    variants.push_back({name, [&large, &step, &launch = launch] { return launch(large.tensors(), step, {}); },
                        [&, &launch = launch] {
                          small.steps(launch, false);
                          shifted.steps(launch, true);
                          some.steps(launch, true);
                          return std::max({small.error_against(expected_small), shifted.error_against(expected_shifted),
                                           some.error_against(expected_some)});
                        }});
  }
  measurement.measure(large.bytes(), variants);
}

// Of Llama 3.2 1B, half of them.
std::vector<std::int64_t> layers() {
  std::vector<std::int64_t> sizes;
  for (int layer = 0; layer < 8; ++layer) {
    for (const std::int64_t n :
         {2048 * 2048, 2048 * 512, 2048 * 512, 2048 * 2048, 2048 * 8192, 2048 * 8192, 8192 * 2048, 2048, 2048})
      sizes.push_back(n);
  }
  return sizes;
}

}  // namespace

std::vector<Job> adamw_jobs() {
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> sizes) {
    jobs.push_back({"adamw_8bit", name, [sizes](Measurement& measurement) { measure_adamw(measurement, sizes); }});
  };
  add("134M bf16", {std::int64_t{1} << 27});
  add("16.8M bf16", {std::int64_t{1} << 24});
  add("8 layers of the 1B bf16", layers());
  return jobs;
}

}  // namespace headroom::test
