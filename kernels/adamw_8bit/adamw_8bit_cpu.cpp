// AdamW with 8-bit moments on the CPU, with a block's fp32 moments in 2 KiB of the stack.
#include <cstdint>
#include <type_traits>

#include "kernels/adamw/adamw_math.h"
#include "kernels/adamw_8bit/adamw_8bit.h"
#include "kernels/common/dynamic_code.h"
#include "kernels/common/storage_cpu.h"

namespace headroom::kernels {

namespace {

constexpr DynamicMap kSignedMap = dynamic_map(true), kUnsignedMap = dynamic_map(false);

struct Part {
  const AdamW8bitTensor& tensor;
  const AdamWTypes& types;
  std::int64_t begin, end;  // blocks
  AdamWStep step;
  float gradient_scale;
  bool stochastic;
  RoundingKey key;
};

struct NoCopy {};

template <bool kSigned>
HEADROOM_INLINE void decode(const std::uint8_t* codes, float absmax, int count, float* values) {
  const DynamicMap& map = kSigned ? kSignedMap : kUnsignedMap;
  for (int i = 0; i < count; ++i) values[i] = map.value[codes[i]] * absmax;
}

// Returns the absmax. Compares as integers, so that inf and NaN are the largest.
template <bool kSigned>
HEADROOM_INLINE float encode(const float* values, int count, std::uint8_t* codes) {
  const DynamicMap& map = kSigned ? kSignedMap : kUnsignedMap;
  std::uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = bits_of(values[i]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  const float absmax = float_of(largest), inverse = inverse_absmax(absmax);
  for (int i = 0; i < count; ++i) {
    codes[i] = dynamic_code<kSigned>(values[i] * inverse, map.decade);
  }
  return absmax;
}

int block_count(std::int64_t n, std::int64_t block) {
  const std::int64_t left = n - block * kQuantisedBlock;
  return static_cast<int>(left < kQuantisedBlock ? left : kQuantisedBlock);
}

template <typename P, typename G, typename W>
HEADROOM_INLINE void loop(const Part& part) {
  const AdamW8bitTensor& tensor = part.tensor;
  const AdamWStep step = part.step;
  alignas(64) float m[kQuantisedBlock], v[kQuantisedBlock];
  for (std::int64_t block = part.begin; block < part.end; ++block) {
    const std::int64_t first = block * kQuantisedBlock;
    const std::int64_t left = tensor.n - first;
    const int count = static_cast<int>(left < kQuantisedBlock ? left : kQuantisedBlock);
    P* __restrict param = static_cast<P*>(tensor.param) + first;
    const G* __restrict gradient = static_cast<const G*>(tensor.gradient) + first;
    decode<true>(tensor.m_codes + first, tensor.m_absmax[block], count, m);
    decode<false>(tensor.v_codes + first, tensor.v_absmax[block], count, v);
    for (int i = 0; i < count; ++i) {
      float p = load(param[i]);
      adamw_element(p, load(gradient[i]) * part.gradient_scale, m[i], v[i], step);
      if constexpr (!std::is_same_v<W, NoCopy>) store(static_cast<W*>(tensor.working)[first + i], p);
      if constexpr (std::is_same_v<P, Bf16>) {
        if (part.stochastic) {
          const std::uint32_t random = rounding_bits(part.key, (first + i) / 2) >> (i % 2 * 16);
          param[i].bits = rounded_stochastically(p, random & 0xffffu);
          continue;
        }
      }
      store(param[i], p);
    }
    tensor.m_absmax[block] = encode<true>(m, count, tensor.m_codes + first);
    tensor.v_absmax[block] = encode<false>(v, count, tensor.v_codes + first);
  }
}

template <typename P>
HEADROOM_INLINE void plain(const Part& part) {
  part.types.gradient == part.types.param ? loop<P, P, NoCopy>(part) : loop<P, float, NoCopy>(part);
}
template <typename W>
HEADROOM_INLINE void with_copy(const Part& part) {
  part.types.gradient == Storage::kFp32 ? loop<float, float, W>(part) : loop<float, W, W>(part);
}

HEADROOM_VECTOR_TARGETS void loop_fp32(const Part& part) { plain<float>(part); }
HEADROOM_VECTOR_TARGETS void loop_bf16(const Part& part) { plain<Bf16>(part); }
HEADROOM_VECTOR_TARGETS void loop_fp16(const Part& part) { plain<Fp16>(part); }
HEADROOM_VECTOR_TARGETS void loop_bf16_copy(const Part& part) { with_copy<Bf16>(part); }
HEADROOM_VECTOR_TARGETS void loop_fp16_copy(const Part& part) { with_copy<Fp16>(part); }

}  // namespace

void adamw_8bit_cpu(const AdamW8bitTensor& tensor, const AdamWTypes& types, std::int64_t begin, std::int64_t end,
                    const AdamWStep& step, const AdamWSwitches& switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  Part part{.tensor = tensor,
            .types = types,
            .begin = begin,
            .end = end,
            .step = step,
            .gradient_scale = switches.inverse_scale != nullptr ? *switches.inverse_scale : 1.0f,
            .stochastic = switches.stochastic_rounding,
            .key = {}};
  if (switches.step_count != nullptr) set_bias_corrections(part.step, *switches.step_count);
  if (!tensor.decays) part.step.decay = 1.0f;
  part.key = rounding_key(switches.seed, part.step.t, tensor.number);
  if (types.working) return *types.working == Storage::kBf16 ? loop_bf16_copy(part) : loop_fp16_copy(part);
  switch (types.param) {
    case Storage::kFp32:
      return loop_fp32(part);
    case Storage::kBf16:
      return loop_bf16(part);
    case Storage::kFp16:
      return loop_fp16(part);
  }
}

void quantise_blockwise_cpu(const void* x, Storage storage, const QuantisedArray& array, std::int64_t begin,
                            std::int64_t end) {
  with_storage(storage, [&](auto type) {
    using T = decltype(type);
    alignas(64) float values[kQuantisedBlock];
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * kQuantisedBlock;
      const int count = block_count(array.n, block);
      for (int i = 0; i < count; ++i) values[i] = load(static_cast<const T*>(x)[first + i]);
      array.absmax[block] = array.is_signed ? encode<true>(values, count, array.codes + first)
                                            : encode<false>(values, count, array.codes + first);
    }
  });
}

void dequantise_blockwise_cpu(const QuantisedArray& array, float* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block * kQuantisedBlock;
    const int count = block_count(array.n, block);
    array.is_signed ? decode<true>(array.codes + first, array.absmax[block], count, y + first)
                    : decode<false>(array.codes + first, array.absmax[block], count, y + first);
  }
}

}  // namespace headroom::kernels
