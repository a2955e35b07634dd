// PyTorch's caching allocator as arithmetic.
#include "demos/predict/caching_allocator.h"

#include <limits>

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

constexpr Bytes rounded_up(Bytes bytes, Bytes to) { return (bytes + to - 1) / to * to; }

}  // namespace

Bytes block_bytes(Bytes requested) { return requested < kRounding ? kRounding : rounded_up(requested, kRounding); }

Bytes segment_bytes(Bytes block) {
  if (block <= kMostSmall) return kSmallSegment;
  return block < kLeastOwn ? kLargeSegment : rounded_up(block, kSegmentRounding);
}

CachingAllocator::FreeBlock CachingAllocator::entry(BlockId id) const {
  const Block& block = blocks_[id];
  return {block.stream, block.at.block, segment_address_[block.at.segment] + block.at.offset, id};
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

std::optional<CachingAllocator::BlockId> CachingAllocator::allocate(Bytes requested, std::uint8_t stream) {
  changes_.clear();
  const Bytes bytes = block_bytes(requested);
  const bool small = bytes <= kMostSmall;
  std::optional<BlockId> found = take_cached(bytes, stream, small);
  if (!found) found = take_segment(bytes, stream, small);
  if (!found) {
    give_back_cached();
    found = take_segment(bytes, stream, small);
  }
  if (!found) return std::nullopt;
  const Bytes rest = blocks_[*found].at.block - bytes;
  if (small ? rest >= kRounding : rest > kMostSmall) split(*found, bytes);
  blocks_[*found].free = false;
  allocated_ += blocks_[*found].at.block;
  return found;
}

std::optional<CachingAllocator::BlockId> CachingAllocator::take_cached(Bytes bytes, std::uint8_t stream, bool small) {
  Pool& free = small ? small_ : large_;
  const auto best = free.lower_bound(FreeBlock{stream, bytes, std::numeric_limits<Bytes>::min(), 0});
  if (best == free.end() || best->stream != stream) return std::nullopt;
  const BlockId block = best->block;
  free.erase(best);
  return block;
}

std::optional<CachingAllocator::BlockId> CachingAllocator::take_segment(Bytes bytes, std::uint8_t stream, bool small) {
  const Bytes segment = segment_bytes(bytes);
  if (limit_ != 0 && reserved_ + segment > limit_) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(segment_address_.size());
  const Bytes address = addresses_.take(segment);
  segment_address_.push_back(address);
  reserved_ += segment;
  changes_.push_back({number, segment, address, true});
  return make_block({.at = {number, 0, segment}, .stream = stream, .small = small});
}

// Every segment that holds nothing.
void CachingAllocator::give_back_cached() {
  for (Pool* pool : {&large_, &small_}) {
    for (auto each = pool->begin(); each != pool->end();) {
      const Block& block = blocks_[each->block];
      if (block.before != kNone || block.after != kNone) {
        ++each;
        continue;
      }
      changes_.push_back({block.at.segment, block.at.block, segment_address_[block.at.segment], false});
      addresses_.give_back(segment_address_[block.at.segment], block.at.block);
      reserved_ -= block.at.block;
      unused_.push_back(each->block);
      each = pool->erase(each);
    }
  }
}

// The first `bytes` stay; the rest becomes another, free block.
void CachingAllocator::split(BlockId id, Bytes bytes) {
  Block rest = blocks_[id];
  rest.at.offset += bytes;
  rest.at.block -= bytes;
  rest.before = id;
  rest.free = true;
  const BlockId rest_id = make_block(rest);
  if (rest.after != kNone) blocks_[rest.after].before = rest_id;
  blocks_[id].after = rest_id;
  blocks_[id].at.block = bytes;
  pool(rest).insert(entry(rest_id));
}

void CachingAllocator::free(BlockId id) {
  allocated_ -= blocks_[id].at.block;
  blocks_[id].free = true;
  const auto join = [this](BlockId first, BlockId second) {
    blocks_[first].at.block += blocks_[second].at.block;
    blocks_[first].after = blocks_[second].after;
    if (blocks_[first].after != kNone) blocks_[blocks_[first].after].before = first;
    unused_.push_back(second);
    return first;
  };
  const auto takes_part = [this](BlockId neighbor) {
    return neighbor != kNone && blocks_[neighbor].free && pool(blocks_[neighbor]).erase(entry(neighbor)) > 0;
  };
  BlockId whole = id;
  if (const BlockId after = blocks_[id].after; takes_part(after)) whole = join(whole, after);
  if (const BlockId before = blocks_[id].before; takes_part(before)) whole = join(before, whole);
  pool(blocks_[whole]).insert(entry(whole));
}

}  // namespace headroom::predict
