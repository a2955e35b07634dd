// Writes canaries and finds the overwritten ones.
#include "demos/engine/experiments/guarded_buffer.h"

#include <utility>

#include <fmt/format.h>

#include "demos/record/units.h"

namespace headroom::experiments {

namespace {

constexpr std::int64_t kGuard = 1 << 14;       // numbers on each side: 64 KiB
constexpr std::int32_t kCanary = 0x7fc5'0000;  // a NaN, so that out-of-bounds reads also spoil the result

}  // namespace

GuardedBuffer::GuardedBuffer(std::string name, std::int64_t count, int index)
    : name_(std::move(name)), count_(count), canary_(kCanary + 257 * (index + 1)) {
  const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kInt);
  whole_ = at::full({count + 2 * kGuard}, canary_, options);
}

at::Tensor GuardedBuffer::data() const { return whole_.narrow(0, kGuard, count_).view(at::kFloat); }

std::int64_t GuardedBuffer::never_written() const {
  return whole_.narrow(0, kGuard, count_).eq(canary_).sum().item<std::int64_t>();
}

std::string GuardedBuffer::damage() const {
  const at::Tensor before = whole_.narrow(0, 0, kGuard).ne(canary_);
  const at::Tensor behind = whole_.narrow(0, kGuard + count_, kGuard).ne(canary_);
  const auto sentence = [&](const at::Tensor& hit, const char* where, std::int64_t origin) {
    return fmt::format("It wrote {} numbers {} of `{}`, the first at {}[{}]; the array has {}.",
                       record::format_count(hit.sum().item<std::int64_t>()), where, name_, name_,
                       origin + hit.to(at::kByte).argmax().item<std::int64_t>(), record::format_count(count_));
  };
  if (behind.any().item<bool>()) return sentence(behind, "beyond the end", count_);
  if (before.any().item<bool>()) return sentence(before, "before the start", -kGuard);
  return {};
}

}  // namespace headroom::experiments
