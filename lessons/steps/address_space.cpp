#include "lessons/steps/address_space.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "demos/predict/allocator/placed.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::EventKind;

// Bytes of segments held after `event`, by address. A partly freed segment has its remaining length.
std::map<Bytes, Bytes> segments_at(const record::Recording& run, std::uint64_t event,
                                   const std::unordered_map<std::uint64_t, const record::Placement*>& places) {
  std::map<Bytes, Bytes> held;
  const auto& events = run.events();
  for (std::uint64_t i = 0; i <= event && i < events.size(); ++i) {
    const record::MemEvent& each = events[i];
    if (each.kind != EventKind::kSegmentAlloc && each.kind != EventKind::kSegmentFree) continue;
    const auto place = places.find(each.storage);
    if (place == places.end()) continue;
    Bytes& bytes = held[place->second->offset];
    bytes += each.kind == EventKind::kSegmentAlloc ? each.block : -each.block;
    if (bytes <= 0) held.erase(place->second->offset);
  }
  return held;
}

void add_segments(AddressSpace& space, const std::map<Bytes, Bytes>& held, bool joined) {
  for (const auto& [address, bytes] : held) {
    space.reserved += bytes;
    const bool goes_on =
        joined && !space.segments.empty() && space.segments.back().address + space.segments.back().bytes == address;
    if (goes_on)
      space.segments.back().bytes += bytes;
    else
      space.segments.push_back({.address = address, .bytes = bytes});
  }
}

PlacedSegment* holder_of(std::vector<PlacedSegment>& segments, Bytes address) {
  const auto after = std::ranges::upper_bound(segments, address, {}, &PlacedSegment::address);
  if (after == segments.begin()) return nullptr;
  PlacedSegment& found = *std::prev(after);
  return address < found.address + found.bytes ? &found : nullptr;
}

}  // namespace

std::vector<FreeRun> free_runs(const PlacedSegment& segment) {
  std::vector<FreeRun> runs;
  Bytes at = 0;
  for (const PlacedBlock& block : segment.blocks) {
    if (block.begin > at) runs.push_back({at, block.begin});
    at = std::max(at, block.end);
  }
  if (at < segment.bytes) runs.push_back({at, segment.bytes});
  return runs;
}

AddressSpace address_space_at(const record::Ledger& run, std::uint64_t event) {
  const record::Recording& recording = run.recording();
  std::unordered_map<std::uint64_t, const record::Placement*> places;
  for (const record::Placement& place : recording.placements()) places.emplace(place.storage, &place);
  AddressSpace space;
  add_segments(space, segments_at(recording, event, places),
               value_of(recording.info().params, predict::kExpandableSegments) == "on");
  for (const record::Storage* const storage : run.alive(event)) {
    const auto block = places.find(storage->id);
    if (block == places.end()) continue;
    const auto segment = places.find(block->second->segment);
    if (segment == places.end()) continue;
    const Bytes address = segment->second->offset + block->second->offset;
    PlacedSegment* const holder = holder_of(space.segments, address);
    if (holder == nullptr || address + storage->block > holder->address + holder->bytes) {
      space.known = false;
      continue;
    }
    const Bytes begin = address - holder->address;
    holder->blocks.push_back({.begin = begin, .end = begin + storage->block, .storage = storage});
    space.blocks += storage->block;
    space.rounding += storage->block - storage->requested;
  }
  for (PlacedSegment& segment : space.segments) {
    std::ranges::sort(segment.blocks, {}, &PlacedBlock::begin);
    for (const FreeRun& free : free_runs(segment)) {
      space.largest_free = std::max(space.largest_free, free.end - free.begin);
      ++space.free_runs;
    }
  }
  return space;
}

}  // namespace headroom::lessons
