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

template <bool kSigned>
HEADROOM_INLINE void decode(const std::uint8_t* codes, float absmax, int count, float* values) {
  const DynamicMap& map = kSigned ? kSignedMap : kUnsignedMap;
  for (int i = 0; i < count; ++i) values[i] = map.value[codes[i]] * absmax;
}

// Writes the codes and returns the absmax.
template <bool kSigned>
HEADROOM_INLINE float encode(const float* values, int count, std::uint8_t* codes) {
  const DynamicMap& map = kSigned ? kSignedMap : kUnsignedMap;
  const float absmax = absmax_of(values, count), inverse = inverse_absmax(absmax);
  for (int i = 0; i < count; ++i) {
    codes[i] = dynamic_code<kSigned>(values[i] * inverse, map.decade);
  }
  return absmax;
}

template <typename P, typename G, typename W>
HEADROOM_INLINE void loop(const AdamW8bitTensor& tensor, const AdamWShared& shared, std::int64_t begin,
                          std::int64_t end) {
  const AdamWStep step = shared.step;
  alignas(64) float m[kQuantisedBlock], v[kQuantisedBlock];
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block * kQuantisedBlock;
    const int count = count_in_block(tensor.n, block, kQuantisedBlock);
    P* __restrict param = static_cast<P*>(tensor.param) + first;
    const G* __restrict gradient = static_cast<const G*>(tensor.gradient) + first;
    decode<true>(tensor.m_codes + first, tensor.m_absmax[block], count, m);
    decode<false>(tensor.v_codes + first, tensor.v_absmax[block], count, v);
    for (int i = 0; i < count; ++i) {
      float p = load(param[i]);
      adamw_element(p, load(gradient[i]) * shared.gradient_scale, m[i], v[i], step);
      if constexpr (!std::is_same_v<W, NoCopy>) store(static_cast<W*>(tensor.working)[first + i], p);
      if constexpr (std::is_same_v<P, Bf16>) {
        if (shared.stochastic) {
          const std::uint32_t random = rounding_bits(shared.key, (first + i) / 2) >> (i % 2 * 16);
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

}  // namespace

HEADROOM_VECTOR_TARGETS void adamw_8bit_cpu(const AdamW8bitTensor& tensor, const AdamWTypes& types, std::int64_t begin,
                                            std::int64_t end, const AdamWStep& step, const AdamWSwitches& switches) {
  if (switches.overflow != nullptr && *switches.overflow != 0) return;
  const AdamWShared shared = adamw_shared(step, switches, tensor.decays, tensor.number);
  with_weight(types, [&](auto p, auto g, auto w)
                         HEADROOM_INLINED { loop<decltype(p), decltype(g), decltype(w)>(tensor, shared, begin, end); });
}

void quantise_blockwise_cpu(const void* x, Storage storage, const QuantisedArray& array, std::int64_t begin,
                            std::int64_t end) {
  with_storage(storage, [&](auto type) {
    using T = decltype(type);
    alignas(64) float values[kQuantisedBlock];
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * kQuantisedBlock;
      const int count = count_in_block(array.n, block, kQuantisedBlock);
      for (int i = 0; i < count; ++i) values[i] = load(static_cast<const T*>(x)[first + i]);
      array.absmax[block] = array.is_signed ? encode<true>(values, count, array.codes + first)
                                            : encode<false>(values, count, array.codes + first);
    }
  });
}

void dequantise_blockwise_cpu(const QuantisedArray& array, float* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block * kQuantisedBlock;
    const int count = count_in_block(array.n, block, kQuantisedBlock);
    array.is_signed ? decode<true>(array.codes + first, array.absmax[block], count, y + first)
                    : decode<false>(array.codes + first, array.absmax[block], count, y + first);
  }
}

}  // namespace headroom::kernels
