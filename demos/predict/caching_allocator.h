// PyTorch's caching allocator of CUDA memory as arithmetic: which block a request gets, and when the device is asked for
// a segment. After c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11: best fit among the free blocks of a stream's pool,
// the rest of a block is split off, neighbors that are free are merged, segments stay until the device refuses one.
// With expandable segments a stream has one range of addresses for small and one for large blocks, whose pages are mapped
// as requests need them and unmapped one by one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "demos/predict/device_addresses.h"
#include "demos/predict/held_memory.h"
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
  explicit CachingAllocator(record::Bytes limit = 0, bool expandable = false,
                            DeviceAddresses addresses = DeviceAddresses())
      : limit_(limit), expandable_(expandable), addresses_(std::move(addresses)) {}

  struct Placement {
    std::uint64_t segment =
        0;  // they are numbered from 0 as they come; with expandable segments, of what was mapped at once
    record::Bytes offset = 0;  // of the block in it
    record::Bytes block = 0;   // bytes taken
  };
  struct SegmentChange {
    std::uint64_t segment = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;  // less that of the first segment
    bool taken = true;          // from the device; else given back
  };

  using BlockId = std::uint32_t;
  // Nothing: out of memory. What changed about the segments is in changes(). Pools of CUDA graphs
  // (record::in_graph_pool) give nothing back, and a request of theirs takes nothing back from the others.
  std::optional<BlockId> allocate(record::Bytes requested, std::uint8_t stream = 0);
  void free(BlockId block);
  // Segments that hold nothing go back to the device: emptyCache().
  void empty_cache();
  Placement placement(BlockId block) const;
  // Of the last call of allocate() or empty_cache(), in order.
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
    bool mapped = true;  // false: addresses without memory, of an expandable segment
  };
  // Best fit: the smallest that holds the request; of equal ones that with the lowest address.
  struct FreeBlock {
    std::uint8_t stream = 0;
    record::Bytes bytes = 0;
    record::Bytes address = 0;
    BlockId block = 0;
    auto operator<=>(const FreeBlock&) const = default;
  };
  struct Unmapped {
    std::uint8_t stream = 0;
    record::Bytes address = 0;
    BlockId block = 0;
    auto operator<=>(const Unmapped&) const = default;
  };
  struct Pool {
    std::set<FreeBlock> free;
    std::set<Unmapped> unmapped;
  };

  Pool& pool(const Block& block) { return block.small ? small_ : large_; }
  FreeBlock entry(BlockId block) const;
  void keep_free(BlockId block) { pool(blocks_[block]).free.insert(entry(block)); }
  void keep_unmapped(BlockId block);
  std::optional<BlockId> take_cached(record::Bytes bytes, std::uint8_t stream, bool small);
  record::Bytes bytes_with_growth(BlockId block) const;
  std::optional<BlockId> take_from_device(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId take_segment(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId grow_segment(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId room_to_grow(record::Bytes bytes, std::uint8_t stream, bool small);
  BlockId map(BlockId block, record::Bytes bytes);
  void unmap(BlockId block);
  void give_back_cached();
  // The first `bytes` stay; the rest becomes another block, in no list yet.
  BlockId cut(BlockId block, record::Bytes bytes);
  BlockId joined(BlockId first, BlockId second);
  // With its neighbors that are as mapped as it is and free.
  BlockId merged(BlockId block);
  BlockId make_block(const Block& block);

  record::Bytes limit_;
  bool expandable_;
  DeviceAddresses addresses_;
  record::Bytes allocated_ = 0, reserved_ = 0;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;  // of blocks_
  HeldMemory held_;
  std::uint64_t segments_ = 0;    // so far
  record::Bytes next_space_ = 0;  // where the addresses of the next expandable segment begin
  Pool small_, large_;
  std::vector<SegmentChange> changes_;
};

}  // namespace headroom::predict
