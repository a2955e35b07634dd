// Model of the caching allocator.
#include "demos/predict/allocator/caching_allocator.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "demos/record/scope.h"

namespace headroom::predict {

using record::Bytes;
using record::kMiB;

namespace {

constexpr Bytes kRounding = 512;              // kMinBlockSize
constexpr Bytes kMostSmall = kMiB;            // kSmallSize
constexpr Bytes kSmallSegment = 2 * kMiB;     // kSmallBuffer
constexpr Bytes kLargeSegment = 20 * kMiB;    // kLargeBuffer
constexpr Bytes kLeastOwn = 10 * kMiB;        // kMinLargeAlloc
constexpr Bytes kSegmentRounding = 2 * kMiB;  // kRoundLarge
// Size of an expandable segment's address range: more than any device has, and a multiple of both page sizes.
constexpr Bytes kSpace = kLargeSegment * 1024 * 1024;

constexpr Bytes page_bytes(bool small) { return small ? kSmallSegment : kLargeSegment; }

constexpr Bytes rounded_up(Bytes bytes, Bytes to) { return (bytes + to - 1) / to * to; }

}  // namespace

Bytes block_bytes(Bytes requested) { return requested < kRounding ? kRounding : rounded_up(requested, kRounding); }

Bytes segment_bytes(Bytes block) {
  if (block <= kMostSmall) return kSmallSegment;
  return block < kLeastOwn ? kLargeSegment : rounded_up(block, kSegmentRounding);
}

CachingAllocator::FreeBlock CachingAllocator::entry(BlockId id) const {
  const Block& block = blocks_[id];
  return {block.stream, block.bytes, block.address, id};
}

void CachingAllocator::hold(Bytes address, Bytes bytes) {
  held_.take(segments_, address, bytes);
  changes_.push_back({segments_++, bytes, address, true});
  reserved_ += bytes;
}

void CachingAllocator::release(Bytes address, Bytes bytes) {
  for (const HeldMemory::Part& part : held_.give_back(address, bytes))
    changes_.push_back({part.segment, part.bytes, part.address, false});
  reserved_ -= bytes;
}

CachingAllocator::BlockId CachingAllocator::make_block(const Block& block) {
  if (unused_.empty()) {
    blocks_.push_back(block);
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  blocks_[id] = block;
  return id;
}

CachingAllocator::BlockPlace CachingAllocator::placement(BlockId id) const {
  const auto place = held_.find(blocks_[id].address);
  return {place->segment, place->offset, blocks_[id].bytes};
}

std::optional<CachingAllocator::BlockId> CachingAllocator::allocate(Bytes requested, std::uint8_t stream) {
  changes_.clear();
  const Bytes bytes = block_bytes(requested);
  const bool small = bytes <= kMostSmall;
  std::optional<BlockId> found = take_cached(bytes, stream, small);
  if (!found) found = take_from_device(bytes, stream, small);
  if (!found && !record::in_graph_pool(stream)) {
    give_back_cached();
    found = take_from_device(bytes, stream, small);
  }
  if (!found) return std::nullopt;
  const Bytes rest = blocks_[*found].bytes - bytes;
  if (small || expandable_ ? rest >= kRounding : rest > kMostSmall) keep_free(cut(*found, bytes));
  blocks_[*found].free = false;
  allocated_ += blocks_[*found].bytes;
  return found;
}

std::optional<CachingAllocator::BlockId> CachingAllocator::take_cached(Bytes bytes, std::uint8_t stream, bool small) {
  std::set<FreeBlock>& free = (small ? small_ : large_).free;
  auto best = free.lower_bound(FreeBlock{stream, bytes, std::numeric_limits<Bytes>::min(), 0});
  if (best == free.end() || best->stream != stream) return std::nullopt;
  if (expandable_) {  // compares blocks by the size to which they could grow
    auto next = std::next(best);
    while (next != free.end() && next->stream == stream &&
           bytes_with_growth(next->block) < bytes_with_growth(best->block)) {
      best = next++;
    }
  }
  const BlockId block = best->block;
  free.erase(best);
  return block;
}

Bytes CachingAllocator::bytes_with_growth(BlockId id) const {
  const BlockId after = blocks_[id].after;
  return blocks_[id].bytes + (after != kNone && !blocks_[after].mapped ? blocks_[after].bytes : 0);
}

std::optional<CachingAllocator::BlockId> CachingAllocator::take_from_device(Bytes bytes, std::uint8_t stream,
                                                                            bool small) {
  if (limit_ != 0 && reserved_ + segment_bytes(bytes) > limit_) return std::nullopt;
  return expandable_ ? grow_segment(bytes, stream, small) : take_segment(bytes, stream, small);
}

CachingAllocator::BlockId CachingAllocator::take_segment(Bytes bytes, std::uint8_t stream, bool small) {
  const Bytes segment = segment_bytes(bytes), address = addresses_.take(segment);
  hold(address, segment);
  return make_block({.address = address, .bytes = segment, .stream = stream, .small = small});
}

// Maps pages after a free block or in the lowest hole until the block is large enough.
CachingAllocator::BlockId CachingAllocator::grow_segment(Bytes bytes, std::uint8_t stream, bool small) {
  BlockId block = room_to_grow(bytes, stream, small);
  if (!blocks_[block].mapped) block = map(block, std::min(blocks_[block].bytes, bytes));
  while (blocks_[block].bytes < bytes) {
    const BlockId hole = blocks_[block].after;
    block = map(hole, std::min(blocks_[hole].bytes, bytes - blocks_[block].bytes));
  }
  pool(blocks_[block]).free.erase(entry(block));
  return block;
}

// First block of the lowest run of adjacent free or unmapped blocks with `bytes` in total; otherwise a new expandable
// segment.
CachingAllocator::BlockId CachingAllocator::room_to_grow(Bytes bytes, std::uint8_t stream, bool small) {
  const std::set<FreeBlock>& unmapped = (small ? small_ : large_).unmapped;
  const auto first = FreeBlock{stream, 0, std::numeric_limits<Bytes>::min(), 0};
  for (auto each = unmapped.lower_bound(first); each != unmapped.end() && each->stream == stream; ++each) {
    BlockId begin = each->block;
    if (const BlockId before = blocks_[begin].before; before != kNone && blocks_[before].free) begin = before;
    Bytes room = 0;
    for (BlockId part = begin; part != kNone && blocks_[part].free && room < bytes; part = blocks_[part].after)
      room += blocks_[part].bytes;
    if (room >= bytes) return begin;
  }
  const BlockId whole = make_block(
      {.address = next_space_, .bytes = kSpace, .stream = stream, .small = small, .free = true, .mapped = false});
  next_space_ += kSpace;
  keep_unmapped(whole);
  return whole;
}

// Maps the block's first pages and merges them with free neighbors.
CachingAllocator::BlockId CachingAllocator::map(BlockId id, Bytes bytes) {
  pool(blocks_[id]).unmapped.erase(unmapped_entry(id));
  const Bytes mapped = rounded_up(bytes, page_bytes(blocks_[id].small));
  if (mapped < blocks_[id].bytes) keep_unmapped(cut(id, mapped));
  blocks_[id].mapped = true;
  hold(blocks_[id].address, mapped);
  const BlockId whole = merged(id);
  keep_free(whole);
  return whole;
}

// Unmaps a free block's whole pages.
void CachingAllocator::unmap(BlockId id) {
  const Bytes page = page_bytes(blocks_[id].small), begins = blocks_[id].address, ends = begins + blocks_[id].bytes;
  const Bytes first = rounded_up(begins, page), last = ends / page * page;
  if (first >= last) return;
  pool(blocks_[id]).free.erase(entry(id));
  BlockId pages = id;
  if (begins < first) {
    pages = cut(id, first - begins);
    keep_free(id);
  }
  if (last < ends) keep_free(cut(pages, last - first));
  blocks_[pages].mapped = false;
  release(first, last - first);
  pages = merged(pages);
  if (blocks_[pages].before == kNone && blocks_[pages].after == kNone) {
    unused_.push_back(pages);  // the segment is empty
  } else {
    keep_unmapped(pages);
  }
}

void CachingAllocator::empty_cache() {
  changes_.clear();
  give_back_cached();
}

// Frees empty segments and, in expandable segments, all free pages.
void CachingAllocator::give_back_cached() {
  for (Pool* pool : {&large_, &small_}) {
    std::vector<BlockId> blocks;
    for (const FreeBlock& each : pool->free)
      if (!record::in_graph_pool(each.stream)) blocks.push_back(each.block);
    for (const BlockId id : blocks) {
      const Block& block = blocks_[id];
      if (expandable_) {
        unmap(id);
      } else if (block.before == kNone && block.after == kNone) {
        release(block.address, block.bytes);
        addresses_.give_back(block.address, block.bytes);
        pool->free.erase(entry(id));
        unused_.push_back(id);
      }
    }
  }
}

CachingAllocator::BlockId CachingAllocator::cut(BlockId id, Bytes bytes) {
  Block rest = blocks_[id];
  rest.address += bytes;
  rest.bytes -= bytes;
  rest.before = id;
  rest.free = true;
  const BlockId rest_id = make_block(rest);
  if (rest.after != kNone) blocks_[rest.after].before = rest_id;
  blocks_[id].after = rest_id;
  blocks_[id].bytes = bytes;
  return rest_id;
}

CachingAllocator::BlockId CachingAllocator::joined(BlockId first, BlockId second) {
  blocks_[first].bytes += blocks_[second].bytes;
  blocks_[first].after = blocks_[second].after;
  if (blocks_[first].after != kNone) blocks_[blocks_[first].after].before = first;
  unused_.push_back(second);
  return first;
}

CachingAllocator::BlockId CachingAllocator::merged(BlockId id) {
  const auto takes_part = [&](BlockId neighbor) {
    if (neighbor == kNone || !blocks_[neighbor].free || blocks_[neighbor].mapped != blocks_[id].mapped) return false;
    const Block& block = blocks_[neighbor];
    if (block.mapped)
      pool(block).free.erase(entry(neighbor));
    else
      pool(block).unmapped.erase(unmapped_entry(neighbor));
    return true;
  };
  BlockId whole = id;
  if (const BlockId after = blocks_[id].after; takes_part(after)) whole = joined(whole, after);
  if (const BlockId before = blocks_[id].before; takes_part(before)) whole = joined(before, whole);
  return whole;
}

void CachingAllocator::free(BlockId id) {
  allocated_ -= blocks_[id].bytes;
  blocks_[id].free = true;
  keep_free(merged(id));
}

}  // namespace headroom::predict
