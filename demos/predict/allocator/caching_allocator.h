// Model of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11). Each stream has one
// pool of small and one of large blocks. Free blocks are chosen by best fit, split, and merged with free neighbors.
// Segments stay until the device is full. An expandable segment is one address range per pool; its pages are mapped on
// demand and unmapped one by one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "demos/predict/allocator/device_addresses.h"
#include "demos/predict/allocator/held_memory.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Rounds up to 512 B.
record::Bytes block_bytes(record::Bytes requested);
// Size of a new segment: 2 MiB for blocks up to 1 MiB, 20 MiB for those below 10 MiB, otherwise the block rounded up to
// 2 MiB.
record::Bytes segment_bytes(record::Bytes block);

class CachingAllocator {
 public:
  // `limit`: most reserved bytes; 0: no limit.
  explicit CachingAllocator(record::Bytes limit = 0, bool expandable = false,
                            DeviceAddresses addresses = DeviceAddresses())
      : limit_(limit), expandable_(expandable), addresses_(std::move(addresses)) {}

  struct BlockPlace {
    std::uint64_t segment = 0;  // numbered from 0; in expandable segments, each mapping has a number
    record::Bytes offset = 0;   // from the segment's begin
    record::Bytes block = 0;
  };
  struct SegmentChange {
    std::uint64_t segment = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;  // relative to the first segment
    bool taken = true;          // false: freed
  };

  using BlockId = std::uint32_t;
  // Returns nullopt if out of memory. Pools of CUDA graphs (record::in_graph_pool) free no segments, and requests to
  // them make other pools free none.
  std::optional<BlockId> allocate(record::Bytes requested, std::uint8_t stream = 0);
  void free(BlockId block);
  // Frees empty segments, like emptyCache().
  void empty_cache();
  BlockPlace placement(BlockId block) const;
  // Segment changes by the last allocate() or empty_cache(), in order.
  const std::vector<SegmentChange>& changes() const { return changes_; }

  record::Bytes allocated() const { return allocated_; }
  record::Bytes reserved() const { return reserved_; }

 private:
  static constexpr BlockId kNone = ~BlockId{0};

  struct Block {
    record::Bytes address = 0, bytes = 0;
    BlockId before = kNone, after = kNone;  // neighbors in the segment
    std::uint8_t stream = 0;
    bool small = false;
    bool free = false;
    bool mapped = true;  // false: unmapped part of an expandable segment
  };
  // Ordered for best fit: smallest first, then lowest address.
  struct FreeBlock {
    std::uint8_t stream = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;
    BlockId block = 0;
    auto operator<=>(const FreeBlock&) const = default;
  };
  struct Pool {
    std::set<FreeBlock> free;
    std::set<FreeBlock> unmapped;  // entries have 0 bytes, so that the lowest address comes first
  };

  Pool& pool(const Block& block) { return block.small ? small_ : large_; }
  FreeBlock entry(BlockId block) const;
  void keep_free(BlockId block) { pool(blocks_[block]).free.insert(entry(block)); }
  FreeBlock unmapped_entry(BlockId block) const { return {blocks_[block].stream, 0, blocks_[block].address, block}; }
  void keep_unmapped(BlockId block) { pool(blocks_[block]).unmapped.insert(unmapped_entry(block)); }
  std::optional<BlockId> take_cached(record::Bytes bytes, std::uint8_t stream, bool small);
  record::Bytes bytes_with_growth(BlockId block) const;
  std::optional<BlockId> take_from_device(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId take_segment(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId grow_segment(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId room_to_grow(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId map(BlockId block, record::Bytes bytes);
  void unmap(BlockId block);
  void give_back_cached();
  // hold() starts counting device memory as reserved, release() stops.
  void hold(record::Bytes address, record::Bytes bytes);
  void release(record::Bytes address, record::Bytes bytes);
  // Shortens `block` to `bytes`; the rest becomes a new block that is in no list.
  BlockId cut(BlockId block, record::Bytes bytes);
  BlockId joined(BlockId first, BlockId second);
  // Merges free neighbors that are both mapped or both unmapped.
  BlockId merged(BlockId block);
  BlockId make_block(const Block& block);

  record::Bytes limit_;
  bool expandable_;
  DeviceAddresses addresses_;
  record::Bytes allocated_ = 0, reserved_ = 0;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;  // free entries of blocks_
  HeldMemory held_;
  std::uint64_t segments_ = 0;
  record::Bytes next_space_ = 0;
  Pool small_, large_;
  std::vector<SegmentChange> changes_;
};

}  // namespace headroom::predict
