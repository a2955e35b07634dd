// Computes    AdamW (kernels/adamw) with moments of one byte per element and one fp32 absmax per block of 256;
//             block-wise quantization and dequantization
// Shapes      any number of tensors p, g, codes [n], absmax [n/256], contiguous; 320 per launch
// Precision   arithmetic fp32 without contraction, same codes as on the CPU. p is updated with the moments before
//             quantization; root and quotient in the update are accurate to two ulp
// Memory      moves the bytes of 2 p + g, and 4 n + 16 n/256 bytes: 10.06 per element in bf16
// Variants    a warp per block of 256; a lane has eight neighbors if the block is whole and all pointers are 16-byte
//             aligned, otherwise every 32nd element. Thread blocks are persistent, since filling their tables is slow,
//             and each warp loads its next block ahead. 32 copies of the value tables (91 KiB), or 8 (40 KiB) if two
//             thread blocks with 32 do not fit on a multiprocessor
// Source      Dettmers et al. 2022, arXiv:2110.02861, sections 1.3 and 2; the map in kernels/common/dynamic_code.h
// Checked by  tests/kernels/optimizer/adamw_8bit_cases.cpp
#include <algorithm>

#include "kernels/adamw/adamw_math.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/adamw_8bit/adamw_8bit_step.cuh"
#include "kernels/common/device.h"
#include "kernels/common/dynamic_cells.h"
#include "kernels/common/dynamic_code.h"
#include "kernels/common/pack.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/common/tensor_batch.cuh"

namespace headroom::kernels {

namespace {

using adamw_8bit_step::kPack;
using adamw_8bit_step::Maps;
using adamw_8bit_step::Packed;
using adamw_8bit_step::Place;

constexpr int kThreads = 256;  // of kernels that only (de)quantize
constexpr int kWarps = kThreads / kWarp;
// Measured on an H200: 80 registers per thread leave room for the next quantized block.
constexpr int kStepThreads = 384;
constexpr int kStepBlocks = 2;  // per multiprocessor
constexpr int kStepWarps = kStepThreads / kWarp;
constexpr int kBlocksOfWarp = 8;
constexpr std::int64_t kPartElements = kStepWarps * kBlocksOfWarp * kQuantisedBlock;  // 24,576
constexpr int kMostTensors = 320;

using Batch = TensorBatch<AdamW8bitTensor, kMostTensors>;

__device__ const DynamicMap kSignedMap = dynamic_map(true);
__device__ const DynamicMap kUnsignedMap = dynamic_map(false);
__device__ const DynamicCells kSignedCells = dynamic_cells(true);
__device__ const DynamicCells kUnsignedCells = dynamic_cells(false);

struct SharedMap {
  float value[256];
  DynamicDecade decade[kDecades + 1];
  DynamicOctave octave[kOctaves];

  // All threads of the block call this, then synchronize.
  __device__ void fill(const DynamicMap& map) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) value[i] = map.value[i];
    if (threadIdx.x <= kDecades) decade[threadIdx.x] = map.decade[threadIdx.x];
    if (threadIdx.x < kOctaves) octave[threadIdx.x] = map.octave[threadIdx.x];
  }
};

// Largest magnitude in a warp, compared as integers, so inf and NaN are the largest.
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

// Thread blocks stride over parts of kPartElements.
template <typename P, typename G, typename W, int kCopies>
__global__ void __launch_bounds__(kStepThreads, kStepBlocks)
    adamw_8bit_kernel(const __grid_constant__ Batch batch, AdamWStep step, AdamWSwitches switches) {
  extern __shared__ uint4 maps_memory[];
  __shared__ AdamWStep corrected;
  auto& maps = *reinterpret_cast<Maps<kCopies>*>(maps_memory);
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  maps.fill(kSignedMap, kUnsignedMap, kSignedCells, kUnsignedCells);
  if (threadIdx.x == 0) {
    corrected = step;
    if (switches.step_count != nullptr) set_bias_corrections(corrected, *switches.step_count);
  }
  __syncthreads();
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  AdamWShared shared{.step = corrected,
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
    const auto whole_at = [&](std::int64_t first) { return wide && first + kQuantisedBlock <= tensor.n; };
    constexpr std::int64_t kNext = kStepWarps * kQuantisedBlock;  // elements from a warp's block to its next
    std::int64_t first = (part - batch.first_block[which]) * kPartElements + warp * kQuantisedBlock;
    Packed<P, G> ahead;
    if (whole_at(first)) ahead.load(tensor, Place<true>{first, tensor.n, lane});
    for (int i = 0; i < kBlocksOfWarp && first < tensor.n; ++i, first += kNext) {
      if (whole_at(first)) {
        const Packed<P, G> packed = ahead;
        const bool more = i + 1 < kBlocksOfWarp && whole_at(first + kNext);
        if (more) ahead.load(tensor, Place<true>{first + kNext, tensor.n, lane});
        step_block<P, G, W>(tensor, packed, Place<true>{first, tensor.n, lane}, shared, maps);
      } else {
        const Place<false> place{first, tensor.n, lane};
        Packed<P, G> packed;
        packed.load(tensor, place);
        step_block<P, G, W>(tensor, packed, place, shared, maps);
      }
    }
  }
}

// True if kStepBlocks blocks fit on a multiprocessor; CUDA reserves 1 KiB of shared memory for each.
template <int kCopies>
bool copies_fit() {
  constexpr int kReserved = 1024, kCorrected = sizeof(AdamWStep);
  return kStepBlocks * (static_cast<int>(sizeof(Maps<kCopies>)) + kCorrected + kReserved) <= processor_shared_bytes();
}

template <typename P, typename G, typename W, int kCopies>
int launch(const Batch& batch, unsigned parts, const AdamWStep& step, const AdamWSwitches& switches,
           CUstream_st* stream) {
  constexpr auto* kernel = &adamw_8bit_kernel<P, G, W, kCopies>;
  constexpr int kBytes = sizeof(Maps<kCopies>);
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  const unsigned blocks = std::min(parts, static_cast<unsigned>(kStepBlocks * multiprocessors()));
  kernel<<<blocks, kStepThreads, kBytes, stream>>>(batch, step, switches);
  return cudaGetLastError();
}

// One warp per quantized block.
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
  return for_each_batch<kMostTensors>(tensors, kPartElements, [&](const Batch& batch, unsigned parts) {
    return with_weight(types, [&](auto p, auto g, auto w) {
      constexpr auto* kMany = &launch<decltype(p), decltype(g), decltype(w), 32>;
      constexpr auto* kFew = &launch<decltype(p), decltype(g), decltype(w), 8>;
      return (copies_fit<32>() ? kMany : kFew)(batch, parts, step, switches, stream);
    });
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
