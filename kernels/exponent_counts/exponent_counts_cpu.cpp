// Counting by exponent on the CPU: vector instructions find the bins, then a loop counts them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernels/common/storage_cpu.h"
#include "kernels/exponent_counts/exponent_counts.h"

namespace headroom::kernels {

namespace {

constexpr std::int64_t kPiece = 1024;
constexpr int kCopies = 4;  // neighbors often fall into the same bin; separate copies need not wait for each other

using Bins = std::array<std::uint16_t, kPiece>;

// Bin kExponentBins is for numbers that are not counted.
class LocalCounts {
 public:
  void add(const Bins& bins, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      ++count_[static_cast<std::size_t>(i % kCopies)][bins[static_cast<std::size_t>(i)]];
  }
  void add_to(std::int64_t* counts) const {
    for (std::size_t bin = 0; bin < kExponentBins; ++bin) {
      std::int64_t sum = 0;
      for (const auto& copy : count_) sum += copy[bin];
      if (sum != 0) std::atomic_ref(counts[bin]).fetch_add(sum, std::memory_order_relaxed);
    }
  }

 private:
  std::array<std::array<std::int64_t, kExponentBins + 1>, kCopies> count_{};
};

template <typename T>
HEADROOM_INLINE void count_numbers(const CountedNumbers& numbers, std::int64_t begin, std::int64_t end) {
  const T* __restrict x = static_cast<const T*>(numbers.x);
  const float factor = numbers.factor != nullptr ? *numbers.factor : 1.0f;
  LocalCounts counts;
  Bins bins;
  for (; begin < end; begin += kPiece) {
    const std::int64_t count = std::min(kPiece, end - begin);
    for (std::int64_t i = 0; i < count; ++i)
      bins[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(exponent_bin(load(x[begin + i]) * factor));
    counts.add(bins, count);
  }
  counts.add_to(numbers.counts);
}

template <typename P, typename M>
HEADROOM_INLINE void count_changes(const CountedUpdates& of, const AdamWStep& step_, std::int64_t begin,
                                   std::int64_t end) {
  const P* __restrict before = static_cast<const P*>(of.before);
  const P* __restrict after = static_cast<const P*>(of.after);
  const M* __restrict first_moment = static_cast<const M*>(of.first_moment);
  const M* __restrict second_moment = static_cast<const M*>(of.second_moment);
  const AdamWStep step = step_;
  LocalCounts updates, lost;
  Bins bins, lost_bins;
  for (; begin < end; begin += kPiece) {
    const std::int64_t count = std::min(kPiece, end - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = begin + i;
      const float p = load(before[at]);
      const float change = wanted_change(p, load(first_moment[at]), load(second_moment[at]), step);
      const std::uint32_t bin = exponent_bin(change);
      const bool is_lost = change != 0 && p == load(after[at]);
      bins[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(bin);
      lost_bins[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(is_lost ? bin : kExponentBins);
    }
    updates.add(bins, count);
    lost.add(lost_bins, count);
  }
  updates.add_to(of.updates);
  lost.add_to(of.lost);
}

}  // namespace

HEADROOM_VECTOR_TARGETS void count_exponents_cpu(const CountedNumbers& numbers, std::int64_t begin, std::int64_t end) {
  with_storage(numbers.storage,
               [&](auto type) HEADROOM_INLINED { count_numbers<decltype(type)>(numbers, begin, end); });
}

HEADROOM_VECTOR_TARGETS void count_updates_cpu(const CountedUpdates& updates, const AdamWStep& step, std::int64_t begin,
                                               std::int64_t end) {
  with_storage(updates.weight, [&](auto type) HEADROOM_INLINED {
    using P = decltype(type);
    updates.moment == Storage::kFp32 ? count_changes<P, float>(updates, step, begin, end)
                                     : count_changes<P, Bf16>(updates, step, begin, end);
  });
}

}  // namespace headroom::kernels
