// PyTorch's caching allocator of CUDA memory as arithmetic: which block a request gets, and when the device is asked for
// a segment. After c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11: best fit among the free blocks of a stream's pool,
// the rest of a block is split off, neighbors that are free are merged, segments stay until the device refuses one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "demos/predict/device_addresses.h"
#include "demos/record/units.h"

namespace headroom::predict {

// What a request of so many bytes takes: whole 512 B.
record::Bytes block_bytes(record::Bytes requested);
// What the device is asked for where no cached block holds a block of that size: 2 MiB up to 1 MiB, 20 MiB below
// 10 MiB, else whole 2 MiB.
record::Bytes segment_bytes(record::Bytes block);

class CachingAllocator {
 public:
  // `limit`: of the reserved bytes, the cap or what the device has; 0: none.
  explicit CachingAllocator(record::Bytes limit = 0, DeviceAddresses addresses = DeviceAddresses())
      : limit_(limit), addresses_(std::move(addresses)) {}

  struct Placement {
    std::uint32_t segment = 0;  // they are numbered from 0 as they come
    record::Bytes offset = 0;   // of the block in it
    record::Bytes block = 0;    // bytes taken
  };
  struct SegmentChange {
    std::uint32_t segment = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;  // less that of the first segment
    bool taken = true;          // from the device; else given back
  };

  using BlockId = std::uint32_t;
  // Nothing: out of memory. What changed about the segments is in changes().
  std::optional<BlockId> allocate(record::Bytes requested, std::uint8_t stream = 0);
  void free(BlockId block);
  const Placement& placement(BlockId block) const { return blocks_[block].at; }
  // Of the last call of allocate(), in order.
  const std::vector<SegmentChange>& changes() const { return changes_; }

  record::Bytes allocated() const { return allocated_; }
  record::Bytes reserved() const { return reserved_; }

 private:
  static constexpr BlockId kNone = ~BlockId{0};

  struct Block {
    Placement at;
    BlockId before = kNone, after = kNone;  // neighbors in the segment
    std::uint8_t stream = 0;
    bool small = false;
    bool free = false;
  };
  // Best fit: the smallest that holds the request; of equal ones that with the lowest address.
  struct FreeBlock {
    std::uint8_t stream = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;
    BlockId block = 0;
    auto operator<=>(const FreeBlock&) const = default;
  };
  using Pool = std::set<FreeBlock>;

  Pool& pool(const Block& block) { return block.small ? small_ : large_; }
  FreeBlock entry(BlockId block) const;
  std::optional<BlockId> take_cached(record::Bytes bytes, std::uint8_t stream, bool small);
  std::optional<BlockId> take_segment(record::Bytes bytes, std::uint8_t stream, bool small);
  void give_back_cached();
  void split(BlockId block, record::Bytes bytes);
  BlockId make_block(const Block& block);

  record::Bytes limit_;
  DeviceAddresses addresses_;
  record::Bytes allocated_ = 0, reserved_ = 0;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;                 // of blocks_
  std::vector<record::Bytes> segment_address_;  // of every segment there was
  Pool small_, large_;
  std::vector<SegmentChange> changes_;
};

}  // namespace headroom::predict
