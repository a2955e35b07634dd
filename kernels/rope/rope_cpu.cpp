// RoPE on the CPU.
#include "kernels/common/storage_cpu.h"
#include "kernels/rope/rope.h"

namespace headroom::kernels {

namespace {

template <typename T>
HEADROOM_INLINE void turn_heads(const RopeTensor& tensor, std::int64_t b, std::int64_t t, std::int64_t half,
                                const float* cos, const float* sin, float sign) {
  for (std::int64_t head = 0; head < tensor.heads; ++head) {
    T* __restrict low =
        static_cast<T*>(tensor.data) + b * tensor.batch_stride + t * tensor.time_stride + head * tensor.head_stride;
    T* __restrict high = low + half;
    for (std::int64_t j = 0; j < half; ++j) {
      const float x = load(low[j]), y = load(high[j]), s = sign * sin[j];
      store(low[j], x * cos[j] - y * s);
      store(high[j], y * cos[j] + x * s);
    }
  }
}

template <typename T>
HEADROOM_INLINE void turn_tokens(const RopeArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t half = args.head_dim / 2;
  const float sign = args.inverse ? -1.0f : 1.0f;
  for (std::int64_t token = begin; token < end; ++token) {
    const std::int64_t b = token / args.length, t = token % args.length;
    turn_heads<T>(args.q, b, t, half, args.cos + t * half, args.sin + t * half, sign);
    turn_heads<T>(args.k, b, t, half, args.cos + t * half, args.sin + t * half, sign);
  }
}

}  // namespace

HEADROOM_VECTOR_TARGETS void rope_cpu(const RopeArgs& args, std::int64_t begin, std::int64_t end) {
  with_storage(args.storage, [&](auto type) HEADROOM_INLINED { turn_tokens<decltype(type)>(args, begin, end); });
}

}  // namespace headroom::kernels
