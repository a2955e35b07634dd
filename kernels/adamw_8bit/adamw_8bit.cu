// Computes    AdamW (kernels/adamw) on moments stored as one byte per element and one fp32 absmax per block of 256;
//             block-wise quantization and its reverse by themselves
// Shapes      any number of tensors p, g, codes [n], absmax [n/256], contiguous; a launch takes 320 of them
// Precision   p fp32, bf16 or fp16; g like p (or its copy) or fp32; arithmetic fp32, not contracted, so that the CPU
//             has the same codes; the parameter's step is taken with the moments before they are coded again, its root
//             and quotient right to two units in the last place
// Memory      allocates nothing; moves 2 p + g + 4 n + 16 n/256 bytes, with bf16 10.06 an element; the moments are
//             fp32 in registers only
// Variants    one: a warp takes a block of 256, eight neighboring elements per lane where all pointers are on 16 bytes
//             and the block is whole, every 32nd element where not
// Source      Dettmers et al. 2022, arXiv:2110.02861, sections 1.3 and 2; the map in kernels/common/dynamic_code.h
// Checked by  tests/kernels/adamw_8bit_gpu_test.cpp
#include <cstdint>
#include <type_traits>

#include "kernels/adamw/adamw_math.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/common/dynamic_code.h"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/common/tensor_batch.cuh"

namespace headroom::kernels {

namespace {

constexpr int kThreads = 256;
constexpr int kPack = 8;  // elements of a lane; 32 lanes are a quantized block
static_assert(kPack * kWarp == kQuantisedBlock);
constexpr int kWarps = kThreads / kWarp;
constexpr int kBlocksOfWarp = 4;
constexpr std::int64_t kBlockElements = kWarps * kBlocksOfWarp * kQuantisedBlock;  // 8192
constexpr int kMostTensors = 320;

using Batch = TensorBatch<AdamW8bitTensor, kMostTensors>;

__device__ const DynamicMap kSignedMap = dynamic_map(true);
__device__ const DynamicMap kUnsignedMap = dynamic_map(false);

// A map at hand in shared memory.
struct SharedMap {
  float value[256];
  DynamicDecade decade[kDecades + 1];
  DynamicOctave octave[kOctaves];

  // By all threads of the block; they meet afterwards.
  __device__ void fill(const DynamicMap& map) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) value[i] = map.value[i];
    if (threadIdx.x <= kDecades) decade[threadIdx.x] = map.decade[threadIdx.x];
    if (threadIdx.x < kOctaves) octave[threadIdx.x] = map.octave[threadIdx.x];
  }
};

// The warp's largest magnitude, as an integer, so that an inf or a NaN is the largest.
__device__ __forceinline__ float warp_absmax(const float (&values)[kPack]) {
  unsigned largest = 0;
#pragma unroll
  for (const float value : values) largest = max(largest, bits_of(value) & 0x7fffffffu);
  return float_of(__reduce_max_sync(0xffffffffu, largest));
}

template <bool kSigned>
__device__ __forceinline__ float encode(const float (&values)[kPack], const SharedMap& map,
                                        Pack<std::uint8_t, kPack>& codes) {
  const float absmax = warp_absmax(values), inverse = inverse_absmax(absmax);
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    const float x = values[k] * inverse, magnitude = coded_magnitude(x);
    codes.element[k] = dynamic_code<kSigned>(x, magnitude, map.decade[dynamic_decade(magnitude, map.octave)]);
  }
  return absmax;
}

// Offsets of a lane's eight elements of a block: neighbors, or every 32nd and possibly fewer.
template <bool kWhole>
struct Place {
  std::int64_t first;  // of the block
  std::int64_t n;
  int lane;

  __device__ std::int64_t index(int k) const { return first + (kWhole ? lane * kPack + k : k * kWarp + lane); }
  template <typename T>
  __device__ Pack<T, kPack> load(const T* array) const {
    if constexpr (kWhole) return load_pack<kPack>(array + index(0));
    Pack<T, kPack> pack{};
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      if (index(k) < n) pack.element[k] = array[index(k)];
    }
    return pack;
  }
  template <typename T>
  __device__ void store(T* array, const Pack<T, kPack>& pack) const {
    if constexpr (kWhole) {
      store_pack(array + index(0), pack);
    } else {
#pragma unroll
      for (int k = 0; k < kPack; ++k) {
        if (index(k) < n) array[index(k)] = pack.element[k];
      }
    }
  }
};

struct NoCopy {
  std::uint16_t bits;  // never touched
};

// What all elements of a tensor share.
struct Shared {
  AdamWStep step;
  float gradient_scale;
  bool stochastic;
  RoundingKey key;
};

// The parameter's step with a root and a quotient that are two units off in the last place instead of none, and that
// take numbers below 2^−126 as 0: the kernel is bound by its arithmetic, not by memory, and the moments have two
// digits.
__device__ __forceinline__ float quick_step(float param, float m, float v, const AdamWStep& step) {
  float root, inverse;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(root * step.second_moment_scale + step.epsilon));
  return step.decay * param - step.step_size * m * inverse;
}

// A warp's step over one block. Elements beyond the tensor's end are zeros, which stay zeros.
template <typename P, typename G, typename W, bool kWhole>
__device__ __forceinline__ void step_block(const AdamW8bitTensor& tensor, const Place<kWhole>& place,
                                           const Shared& shared, const SharedMap& first, const SharedMap& second) {
  const std::int64_t block = place.first / kQuantisedBlock;
  Pack<P, kPack> p = place.load(static_cast<const P*>(tensor.param));
  const Pack<G, kPack> g = place.load(static_cast<const G*>(tensor.gradient));
  Pack<std::uint8_t, kPack> m_codes = place.load(tensor.m_codes), v_codes = place.load(tensor.v_codes);
  const float m_absmax = tensor.m_absmax[block], v_absmax = tensor.v_absmax[block];
  [[maybe_unused]] Pack<W, kPack> w;
  float m[kPack], v[kPack];
#pragma unroll
  for (int k = 0; k < kPack; ++k) {
    m[k] = first.value[m_codes.element[k]] * m_absmax;
    v[k] = second.value[v_codes.element[k]] * v_absmax;
    float moved = load(p.element[k]);
    adamw_moments(load(g.element[k]) * shared.gradient_scale, m[k], v[k], shared.step);
    moved = quick_step(moved, m[k], v[k], shared.step);
    store(p.element[k], moved);
    if constexpr (std::is_same_v<P, Bf16>) {
      if (shared.stochastic) {
        const std::int64_t i = place.index(k);
        const std::uint32_t random = rounding_bits(shared.key, i / 2) >> (static_cast<int>(i % 2) * 16);
        p.element[k].bits = rounded_stochastically(moved, random & 0xffffu);
      }
    }
    if constexpr (!std::is_same_v<W, NoCopy>) store(w.element[k], moved);
    if (!kWhole && place.index(k) >= place.n) m[k] = v[k] = 0.0f;
  }
  place.store(static_cast<P*>(tensor.param), p);
  if constexpr (!std::is_same_v<W, NoCopy>) place.store(static_cast<W*>(tensor.working), w);
  const float m_largest = encode<true>(m, first, m_codes), v_largest = encode<false>(v, second, v_codes);
  place.store(tensor.m_codes, m_codes);
  place.store(tensor.v_codes, v_codes);
  if (place.lane == 0) {
    tensor.m_absmax[block] = m_largest;
    tensor.v_absmax[block] = v_largest;
  }
}

// Block b takes kBlockElements elements of one tensor, each of its warps kBlocksOfWarp quantized blocks.
template <typename P, typename G, typename W>
__global__ void __launch_bounds__(kThreads)
    adamw_8bit_kernel(const __grid_constant__ Batch batch, AdamWStep step, AdamWSwitches switches) {
  __shared__ SharedMap first, second;
  __shared__ AdamWStep corrected;
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  first.fill(kSignedMap);
  second.fill(kUnsignedMap);
  if (threadIdx.x == 0) {
    corrected = step;
    if (switches.step_count != nullptr) set_bias_corrections(corrected, *switches.step_count);
  }
  __syncthreads();
  const int which = batch.tensor_of(blockIdx.x);
  const AdamW8bitTensor& tensor = batch.tensor[which];
  Shared shared{.step = corrected,
                .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
                .stochastic = switches.stochastic_rounding,
                .key = rounding_key(switches.seed, corrected.t, tensor.number)};
  if (!tensor.decays) shared.step.decay = 1.0f;
  const bool wide = aligned_all(static_cast<const P*>(tensor.param), static_cast<const G*>(tensor.gradient),
                                tensor.m_codes, tensor.v_codes, static_cast<const W*>(tensor.working));
  const int lane = threadIdx.x % kWarp;
  const std::int64_t begin = (blockIdx.x - batch.first_block[which]) * kBlockElements;
  for (int i = 0; i < kBlocksOfWarp; ++i) {
    const std::int64_t place = begin + (i * kWarps + threadIdx.x / kWarp) * kQuantisedBlock;
    if (place >= tensor.n) break;
    if (wide && place + kQuantisedBlock <= tensor.n) {
      step_block<P, G, W>(tensor, Place<true>{place, tensor.n, lane}, shared, first, second);
    } else {
      step_block<P, G, W>(tensor, Place<false>{place, tensor.n, lane}, shared, first, second);
    }
  }
}

struct Launch {
  const Batch& batch;
  unsigned blocks;
  const AdamWTypes& types;
  const AdamWStep& step;
  const AdamWSwitches& switches;
  CUstream_st* stream;

  template <typename P, typename G, typename W>
  int run() const {
    adamw_8bit_kernel<P, G, W><<<blocks, kThreads, 0, stream>>>(batch, step, switches);
    return cudaGetLastError();
  }
  // A copy in W beside an fp32 master: the gradient like the copy or fp32.
  template <typename W>
  int with_copy() const {
    return types.gradient == Storage::kFp32 ? run<float, float, W>() : run<float, W, W>();
  }
  int operator()() const {
    if (types.working) return *types.working == Storage::kBf16 ? with_copy<Bf16>() : with_copy<Fp16>();
    return with_storage(types.param, [&](auto p) {
      using P = decltype(p);
      return types.gradient == types.param ? run<P, P, NoCopy>() : run<P, float, NoCopy>();
    });
  }
};

// A warp takes a quantized block.
template <typename T, bool kSigned>
__global__ void __launch_bounds__(kThreads) quantise_kernel(const T* x, QuantisedArray array) {
  __shared__ SharedMap map;
  map.fill(kSigned ? kSignedMap : kUnsignedMap);
  __syncthreads();
  const std::int64_t block = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  const Place<false> place{block * kQuantisedBlock, array.n, static_cast<int>(threadIdx.x % kWarp)};
  if (place.first >= array.n) return;
  const Pack<T, kPack> elements = place.load(x);
  float values[kPack];
#pragma unroll
  for (int k = 0; k < kPack; ++k) values[k] = load(elements.element[k]);
  Pack<std::uint8_t, kPack> codes;
  const float absmax = encode<kSigned>(values, map, codes);
  place.store(array.codes, codes);
  if (place.lane == 0) array.absmax[block] = absmax;
}

__global__ void __launch_bounds__(kThreads) dequantise_kernel(QuantisedArray array, float* y) {
  const DynamicMap& map = array.is_signed ? kSignedMap : kUnsignedMap;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < array.n) y[i] = map.value[array.codes[i]] * array.absmax[i / kQuantisedBlock];
}

}  // namespace

int adamw_8bit_cuda(std::span<const AdamW8bitTensor> tensors, const AdamWTypes& types, const AdamWStep& step,
                    const AdamWSwitches& switches, CUstream_st* stream) {
  if (!types.supported()) return cudaErrorInvalidValue;
  return for_each_batch<kMostTensors>(tensors, kBlockElements, [&](const Batch& batch, unsigned blocks) {
    return Launch{batch, blocks, types, step, switches, stream}();
  });
}

int quantise_blockwise_cuda(const void* x, Storage storage, const QuantisedArray& array, CUstream_st* stream) {
  if (array.n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((quantised_blocks(array.n) + kWarps - 1) / kWarps);
  return with_storage(storage, [&](auto type) -> int {
    using T = decltype(type);
    if (array.is_signed) {
      quantise_kernel<T, true><<<blocks, kThreads, 0, stream>>>(static_cast<const T*>(x), array);
    } else {
      quantise_kernel<T, false><<<blocks, kThreads, 0, stream>>>(static_cast<const T*>(x), array);
    }
    return cudaGetLastError();
  });
}

int dequantise_blockwise_cuda(const QuantisedArray& array, float* y, CUstream_st* stream) {
  if (array.n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((array.n + kThreads - 1) / kThreads);
  dequantise_kernel<<<blocks, kThreads, 0, stream>>>(array, y);
  return cudaGetLastError();
}

}  // namespace headroom::kernels
