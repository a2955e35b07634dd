// Live storages by address; recordings name them by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "demos/record/rows/mem_event.h"
#include "demos/record/units.h"

namespace headroom::live {

struct LiveStorage {
  std::uintptr_t address = 0;  // 0: empty slot
  std::uint64_t id = 0;
  record::Bytes requested = 0;
  record::Bytes block = 0;
  record::Category category = record::Category::kOther;
  std::uint8_t stream = 0;
};

// Sets all fields except the allocator's totals.
record::MemEvent event_of(record::EventKind kind, record::DeviceKind device, const LiveStorage& storage);

// Open addressing with linear probing (Knuth, TAOCP vol. 3, 6.4, algorithms L and R). The caller locks.
class StorageTable {
 public:
  StorageTable() : slots_(kFirstCapacity) {}

  std::size_t size() const { return size_; }

  // Replaces a storage at the same address, whose free was missed.
  void insert(const LiveStorage& storage);
  LiveStorage* find(std::uintptr_t address);
  // Removes and returns the storage; its address is 0 if there was none.
  LiveStorage erase(std::uintptr_t address);
  void clear();

  // Sums of `block` per category.
  record::ByCategory by_category() const;

  std::vector<LiveStorage> in_order_of_birth() const;

 private:
  static constexpr std::size_t kFirstCapacity = 4096;  // power of two; a tiny model has about 200 storages

  std::size_t home(std::uintptr_t address) const;
  void grow();

  std::vector<LiveStorage> slots_;
  std::size_t size_ = 0;
};

}  // namespace headroom::live
