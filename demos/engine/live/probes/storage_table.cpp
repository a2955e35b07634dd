// Open addressing: address → storage.
#include "demos/engine/live/probes/storage_table.h"

#include <algorithm>
#include <utility>

namespace headroom::live {

record::MemEvent event_of(record::EventKind kind, record::DeviceKind device, const LiveStorage& storage) {
  record::MemEvent event;
  event.kind = kind;
  event.device = device;
  event.storage = storage.id;
  event.requested = storage.requested;
  event.block = storage.block;
  event.category = storage.category;
  event.stream = storage.stream;
  return event;
}

// Addresses are multiples of 64 (CPU) or 512 (CUDA): the low bits carry no information. Multiplicative hashing (Knuth,
// TAOCP vol. 3, 6.4) by 2^64 over the golden ratio spreads the rest.
std::size_t StorageTable::home(std::uintptr_t address) const {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(address) >> 4) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
}

void StorageTable::insert(const LiveStorage& storage) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  std::size_t at = home(storage.address);
  while (slots_[at].address != 0 && slots_[at].address != storage.address) at = (at + 1) & (slots_.size() - 1);
  if (slots_[at].address == 0) ++size_;
  slots_[at] = storage;
}

LiveStorage* StorageTable::find(std::uintptr_t address) {
  if (address == 0) return nullptr;
  for (std::size_t at = home(address); slots_[at].address != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].address == address) return &slots_[at];
  }
  return nullptr;
}

LiveStorage StorageTable::erase(std::uintptr_t address) {
  LiveStorage* found = find(address);
  if (found == nullptr) return {};
  const LiveStorage erased = *found;
  // Moves later entries of the cluster back, so that no search stops at the hole.
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = static_cast<std::size_t>(found - slots_.data());
  for (std::size_t at = (hole + 1) & mask; slots_[at].address != 0; at = (at + 1) & mask) {
    const std::size_t distance_from_home = (at - home(slots_[at].address)) & mask;
    const std::size_t distance_from_hole = (at - hole) & mask;
    if (distance_from_home >= distance_from_hole) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole] = {};
  --size_;
  return erased;
}

void StorageTable::clear() {
  std::fill(slots_.begin(), slots_.end(), LiveStorage{});
  size_ = 0;
}

record::ByCategory StorageTable::by_category() const {
  record::ByCategory sums{};
  for (const LiveStorage& slot : slots_) {
    if (slot.address != 0) sums[static_cast<std::size_t>(slot.category)] += slot.block;
  }
  return sums;
}

std::vector<LiveStorage> StorageTable::in_order_of_birth() const {
  std::vector<LiveStorage> alive;
  alive.reserve(size_);
  for (const LiveStorage& slot : slots_) {
    if (slot.address != 0) alive.push_back(slot);
  }
  std::sort(alive.begin(), alive.end(), [](const LiveStorage& a, const LiveStorage& b) { return a.id < b.id; });
  return alive;
}

void StorageTable::grow() {
  std::vector<LiveStorage> old(2 * slots_.size());
  std::swap(old, slots_);
  size_ = 0;
  for (const LiveStorage& slot : old) {
    if (slot.address != 0) insert(slot);
  }
}

}  // namespace headroom::live
