// Tracks segments by address.
#include "demos/predict/allocator/held_memory.h"

#include <algorithm>
#include <iterator>

namespace headroom::predict {

using record::Bytes;

void HeldMemory::take(std::uint64_t segment, Bytes address, Bytes bytes) {
  parts_.insert_or_assign(address, Held{segment, address, bytes});
}

std::vector<HeldMemory::Part> HeldMemory::give_back(Bytes address, Bytes bytes) {
  std::vector<Part> given;
  const Bytes end = address + bytes;
  auto each = parts_.upper_bound(address);
  if (each != parts_.begin()) --each;
  while (each != parts_.end() && each->first < end) {
    const auto [begin, held] = *each;
    const Bytes held_end = begin + held.bytes, from = std::max(begin, address), to = std::min(held_end, end);
    if (from >= to) {
      ++each;
      continue;
    }
    each = parts_.erase(each);
    if (begin < from) parts_[begin] = {held.segment, held.began, from - begin};
    if (to < held_end) parts_[to] = {held.segment, held.began, held_end - to};
    given.push_back({held.segment, from, to - from});
  }
  return given;
}

std::optional<HeldMemory::Place> HeldMemory::find(Bytes address) const {
  const auto behind = parts_.upper_bound(address);
  if (behind == parts_.begin()) return std::nullopt;
  const auto& [begin, held] = *std::prev(behind);
  if (address - begin >= held.bytes) return std::nullopt;
  return Place{held.segment, address - held.began};
}

}  // namespace headroom::predict
