// NF4 on the CPU.
#include <cstdint>

#include "kernels/common/dynamic_code.h"
#include "kernels/common/storage_cpu.h"
#include "kernels/nf4/nf4.h"
#include "kernels/nf4/nf4_math.h"

namespace headroom::kernels {

namespace {

constexpr Nf4Tables kTables = nf4_tables();
constexpr DynamicMap kMap = dynamic_map(/*is_signed=*/true);

template <typename T>
HEADROOM_INLINE void quantise(const T* weight, const Nf4Args& args, float* absmax, std::int64_t begin,
                              std::int64_t end) {
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block * kNf4Block;
    const int count = count_in_block(args.n, block, kNf4Block);
    alignas(64) float values[kNf4Block];
    alignas(64) unsigned codes[kNf4Block + 1] = {};  // pads an odd end with 0
    for (int i = 0; i < count; ++i) values[i] = load(weight[first + i]);
    absmax[block] = absmax_of(values, count);
    const float inverse = inverse_absmax(absmax[block]);
    for (int i = 0; i < count; ++i) codes[i] = nf4_code(values[i] * inverse, kTables.middle);
    for (int i = 0; i < count; i += 2) {
      args.codes[(first + i) / 2] = static_cast<std::uint8_t>(codes[i] << 4 | codes[i + 1]);
    }
  }
}

template <typename T>
HEADROOM_INLINE void dequantise(const Nf4Args& args, T* weight, std::int64_t begin, std::int64_t end) {
  for (std::int64_t block = begin; block < end; ++block) {
    const std::int64_t first = block * kNf4Block;
    const int count = count_in_block(args.n, block, kNf4Block);
    const float absmax =
        *args.absmax_mean + args.absmax_scale[block / kNf4ScaleBlock] * kMap.value[args.absmax_codes[block]];
    T level[16];  // of this block
    for (int code = 0; code < 16; ++code) store(level[code], kTables.level[code] * absmax);
    const std::uint8_t* codes = args.codes + first / 2;
    T* __restrict out = weight + first;
    for (int pair = 0; pair < count / 2; ++pair) {
      out[2 * pair] = level[codes[pair] >> 4];
      out[2 * pair + 1] = level[codes[pair] & 15];
    }
    if (count % 2 == 1) out[count - 1] = level[codes[count / 2] >> 4];
  }
}

}  // namespace

HEADROOM_VECTOR_TARGETS void nf4_quantise_cpu(const void* weight, Storage storage, const Nf4Args& args, float* absmax,
                                              std::int64_t begin, std::int64_t end) {
  with_storage(storage, [&](auto type) HEADROOM_INLINED {
    quantise(static_cast<const decltype(type)*>(weight), args, absmax, begin, end);
  });
}

void nf4_quantise_absmax_cpu(const Nf4Args& args, const float* absmax) {
  const std::int64_t blocks = nf4_blocks(args.n);
  double sum[kMeanParts] = {};
  for (std::int64_t i = 0; i < blocks; ++i) sum[i % kMeanParts] += double{absmax[i]};
  for (int distance = kMeanParts / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) sum[i] += sum[i + distance];
  }
  const auto mean = static_cast<float>(sum[0] / static_cast<double>(blocks));
  *args.absmax_mean = mean;
  for (std::int64_t group = 0; group < nf4_scales(args.n); ++group) {
    const std::int64_t first = group * kNf4ScaleBlock;
    const int count = count_in_block(blocks, group, kNf4ScaleBlock);
    float values[kNf4ScaleBlock];
    for (int i = 0; i < count; ++i) values[i] = absmax[first + i] - mean;
    args.absmax_scale[group] = absmax_of(values, count);
    const float inverse = inverse_absmax(args.absmax_scale[group]);
    for (int i = 0; i < count; ++i) {
      args.absmax_codes[first + i] = dynamic_code<true>(values[i] * inverse, kMap.decade);
    }
  }
}

void nf4_dequantise_cpu(const Nf4Args& args, void* weight, Storage storage, std::int64_t begin, std::int64_t end) {
  with_storage(storage, [&](auto type) { dequantise(args, static_cast<decltype(type)*>(weight), begin, end); });
}

}  // namespace headroom::kernels
