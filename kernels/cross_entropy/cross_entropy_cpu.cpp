// Cross entropy on the CPU. A row stays cached for its gradient.
#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/cross_entropy/softmax_cpu.h"

namespace headroom::kernels {

namespace {

void raise_flag(std::int64_t& flag, std::int64_t value) {
  std::atomic_ref<std::int64_t> shared(flag);
  std::int64_t seen = shared.load();
  while (seen < value && !shared.compare_exchange_weak(seen, value)) {
  }
}

template <typename T>
HEADROOM_INLINE void cross_entropy_row(const CrossEntropyArgs& args, std::int64_t row) {
  const T* const in = static_cast<const T*>(args.logits) + row * args.stride;
  T* const out = args.dlogits == nullptr ? nullptr : static_cast<T*>(args.dlogits) + row * args.stride;
  const std::int64_t target = args.targets[row], vocab = args.vocab;
  const bool ignored = target == args.ignore_index;
  const bool outside = !ignored && (target < 0 || target >= vocab);
  if (ignored || outside) {
    if (outside && args.error_flag != nullptr) raise_flag(*args.error_flag, row + 1);
    args.loss[row] = outside ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    if (out != nullptr) std::fill(out, out + vocab, T{});
    return;
  }
  RowSums sums;
  add_columns(sums, in, vocab);
  const float target_logit = load(in[target]), smoothing = args.label_smoothing;
  args.loss[row] = loss_of(sums, target_logit, smoothing, vocab);
  if (out == nullptr) return;
  const float scale = args.scale == nullptr ? 1.0f : *args.scale;
  const float factor = static_cast<float>(scale / sums.sum);
  const float everywhere = scale * smoothing / static_cast<float>(vocab);
  write_gradient(in, out, vocab, sums.max, factor, everywhere);
  store(out[target], exponential(target_logit - sums.max) * factor - everywhere - scale * (1 - smoothing));
}

}  // namespace

HEADROOM_VECTOR_TARGETS void cross_entropy_cpu(const CrossEntropyArgs& args, std::int64_t begin, std::int64_t end) {
  with_storage(args.storage, [&](auto type) HEADROOM_INLINED {
    for (std::int64_t row = begin; row < end; ++row) cross_entropy_row<decltype(type)>(args, row);
  });
}

}  // namespace headroom::kernels
