// Simulates the driver.
#include "demos/predict/allocator/device_addresses.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace headroom::predict {

using record::Bytes;
using record::kMiB;

namespace {

constexpr Bytes kReservation = 32 * kMiB;

struct Gap {
  Bytes address, bytes;
};

// Gaps left by the context and the first kernels, and by NCCL's buffers. Gaps of NCCL's process begin up to 128 MiB
// lower or higher from one rank to the next.
constexpr std::array<Gap, 3> kLeftByContext{
    {{-514 * kMiB, 4 * kMiB}, {-350 * kMiB, 348 * kMiB}, {76 * kMiB, 20 * kMiB}}};
constexpr Bytes kLowestOfContext = -1150 * kMiB;
constexpr std::array<Gap, 3> kLeftByNccl{{{74 * kMiB, 626 * kMiB}, {710 * kMiB, 4 * kMiB}, {906 * kMiB, 496 * kMiB}}};
constexpr Bytes kLowestOfNccl = -694 * kMiB;

}  // namespace

Bytes DeviceAddresses::take(Bytes bytes) {
  if (next_known_ < known_.size()) {
    first_ = false;
    lowest_ = std::min(lowest_, known_[next_known_]);
    return known_[next_known_++];
  }
  if (first_) {
    first_ = false;
    for (const Gap& gap : with_nccl_ ? kLeftByNccl : kLeftByContext) gaps_[gap.address] = gap.bytes;
    lowest_ = with_nccl_ ? kLowestOfNccl : kLowestOfContext;
    return 0;
  }
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const auto [address, room] = *gap;
    if (room < bytes) continue;
    gaps_.erase(gap);
    if (room > bytes) gaps_[address + bytes] = room - bytes;
    return address;
  }
  const Bytes reserved = (bytes + kReservation - 1) / kReservation * kReservation;
  lowest_ -= reserved;
  if (reserved > bytes) give_back(lowest_ + bytes, reserved - bytes);
  return lowest_;
}

void DeviceAddresses::give_back(Bytes address, Bytes bytes) {
  auto behind = gaps_.lower_bound(address);
  if (behind != gaps_.end() && behind->first == address + bytes) {
    bytes += behind->second;
    behind = gaps_.erase(behind);
  }
  if (behind != gaps_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  gaps_[address] = bytes;
}

}  // namespace headroom::predict
