// Two passes: the first finds each event's effect on its storage, the second sums the totals. A relabel is known before
// its storage is summed, so only storages of earlier updates need corrections.
#include "demos/record/ledger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace headroom::record {
namespace {

// Far above any real total. Larger allocations are ignored, so that no sum overflows.
constexpr Bytes kMostTotal = Bytes{1} << 62;

bool take(Bytes& total, Bytes amount) {
  if (amount < 0 || amount > kMostTotal - total) return false;
  total += amount;
  return true;
}

Bytes& of(ByCategory& by_category, Category category) { return by_category[static_cast<std::size_t>(category)]; }

void extend(Ledger::Extremes& extremes, const Totals& totals, std::uint64_t event) {
  if (totals.allocated < extremes.low.allocated) {
    extremes.low = totals;
    extremes.low_event = event;
  }
  if (totals.allocated > extremes.high.allocated) {
    extremes.high = totals;
    extremes.high_event = event;
  }
}

void extend(Ledger::Extremes& extremes, const Ledger::Extremes& others) {
  extend(extremes, others.low, others.low_event);
  extend(extremes, others.high, others.high_event);
}

}  // namespace

Ledger::Ledger(const Recording& recording) : recording_(&recording) { update(); }

void Ledger::update() {
  const auto& others = recording_->other_ranks();
  for (Ledger& other : other_ranks_) other.update();
  for (std::size_t i = other_ranks_.size(); i < others.size(); ++i) other_ranks_.emplace_back(*others[i]);
  const std::vector<MemEvent>& events = recording_->events();
  if (events.size() <= consumed_) return;
  make_room(events);
  for (std::uint64_t index = consumed_; index < events.size(); ++index) effects_.push_back(track(index, events[index]));
  for (const auto& [number, before] : relabelled_) correct_past(storages_[number], before);
  relabelled_.clear();
  for (; consumed_ < events.size(); ++consumed_) {
    add_to_block(consumed_);
    compare_with_allocator(consumed_, events[consumed_]);
  }
}

// Growing the lists in steps would take as long as the replay.
void Ledger::make_room(const std::vector<MemEvent>& events) {
  if (events.size() < 2 * consumed_) return;
  const auto births = std::count_if(events.begin(), events.end(),
                                    [](const MemEvent& event) { return event.kind == EventKind::kAlloc; });
  effects_.reserve(events.size());
  blocks_.reserve(events.size() / kEventsPerBlock + 1);
  storages_.reserve(static_cast<std::size_t>(births));
}

Ledger::Effect Ledger::track(std::uint64_t index, const MemEvent& event) {
  if (event.device != recording_->info().device) return 0;
  switch (event.kind) {
    case EventKind::kAlloc:
      return track_birth(index, event);
    case EventKind::kFree:
      return track_death(index, event);
    case EventKind::kRelabel:
      track_relabel(event);
      return 0;
    case EventKind::kSegmentAlloc:
    case EventKind::kSegmentFree:
      return track_segment(index, event);
    case EventKind::kOutOfMemory:
      return 0;
  }
  return 0;
}

Ledger::Effect Ledger::track_birth(std::uint64_t index, const MemEvent& event) {
  const auto number = static_cast<std::uint32_t>(storages_.size());
  if (storage_of_.find(event.storage)) return 0;
  if (event.requested < 0 || event.requested > kMostTotal - promised_requested_) return 0;
  if (!take(promised_block_, event.block)) return 0;
  promised_requested_ += event.requested;
  storage_of_.set(event.storage, number);
  storages_.push_back({.id = event.storage,
                       .born = index,
                       .died = kNever,
                       .requested = event.requested,
                       .block = event.block,
                       .category = event.category,
                       .phase = event.phase,
                       .layer = event.layer,
                       .op = event.op});
  if (number % kStoragesPerGroup == 0) groups_.emplace_back();
  ++groups_.back().alive;
  return number + 1;
}

Ledger::Effect Ledger::track_death(std::uint64_t index, const MemEvent& event) {
  const std::optional<std::uint32_t> number = storage_of_.find(event.storage);
  if (!number) return 0;
  Storage& storage = storages_[*number];
  if (storage.died != kNever) return 0;
  storage.died = index;
  promised_block_ -= storage.block;
  promised_requested_ -= storage.requested;
  Group& group = groups_[*number / kStoragesPerGroup];
  --group.alive;
  group.last_death = index;
  return *number + 1;
}

void Ledger::track_relabel(const MemEvent& event) {
  const std::optional<std::uint32_t> number = storage_of_.find(event.storage);
  if (!number) return;
  Storage& storage = storages_[*number];
  if (storage.born < consumed_)
    relabelled_.emplace(*number, storage.category);  // keeps the first old category, which is in the totals
  storage.category = event.category;
}

Ledger::Effect Ledger::track_segment(std::uint64_t index, const MemEvent& event) {
  const std::optional<std::uint32_t> found = segment_of_.find(event.storage);
  if (event.kind == EventKind::kSegmentFree) {
    if (!found) return 0;
    segments_[*found].died = index;
    promised_reserved_ -= segments_[*found].bytes;
    segment_of_.erase(event.storage);
    return (*found + 1) | kSegmentBit;
  }
  if (found || !take(promised_reserved_, event.block)) return 0;
  const auto number = static_cast<std::uint32_t>(segments_.size());
  segments_.push_back({.born = index, .died = kNever, .bytes = event.block});
  segment_of_.set(event.storage, number);
  return (number + 1) | kSegmentBit;
}

void Ledger::correct_past(const Storage& storage, Category before) {
  const auto move = [&](Totals& totals) {
    of(totals.by_category, before) -= storage.block;
    of(totals.by_category, storage.category) += storage.block;
  };
  const auto alive_after = [&](std::uint64_t event) { return storage.born <= event && event < storage.died; };
  for (std::uint64_t b = storage.born / kEventsPerBlock; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const std::uint64_t first = b * kEventsPerBlock;
    if (storage.died < first) break;
    if (first > 0 && alive_after(first - 1)) move(block.before);
    if (alive_after(block.extremes.low_event)) move(block.extremes.low);
    if (alive_after(block.extremes.high_event)) move(block.extremes.high);
  }
  if (consumed_ > 0 && alive_after(consumed_ - 1)) move(now_);
}

void Ledger::apply(std::uint64_t index, Totals& totals) const {
  const Effect effect = effects_[index];
  if (effect == 0) return;
  if ((effect & kSegmentBit) != 0) {
    const Segment& segment = segments_[(effect & ~kSegmentBit) - 1];
    totals.reserved += segment.born == index ? segment.bytes : -segment.bytes;
    return;
  }
  const Storage& storage = storages_[effect - 1];
  const Bytes sign = storage.born == index ? 1 : -1;
  of(totals.by_category, storage.category) += sign * storage.block;
  totals.allocated += sign * storage.block;
  totals.requested += sign * storage.requested;
}

void Ledger::add_to_block(std::uint64_t index) {
  const bool opens = index % kEventsPerBlock == 0;
  if (opens) blocks_.push_back({.before = now_, .extremes = {}});
  Block& block = blocks_.back();
  apply(index, now_);
  if (opens)
    block.extremes = {.low = now_, .high = now_, .low_event = index, .high_event = index};
  else
    extend(block.extremes, now_, index);
  block.most_requested = std::max(block.most_requested, now_.requested);
  block.most_reserved = std::max(block.most_reserved, now_.reserved);
}

void Ledger::compare_with_allocator(std::uint64_t index, const MemEvent& event) {
  if (first_mismatch_ != kNever || event.device != recording_->info().device) return;
  const bool allocated = event.allocator_allocated == kUnknownBytes || event.allocator_allocated == now_.allocated;
  const bool reserved = event.allocator_reserved == kUnknownBytes || event.allocator_reserved == now_.reserved;
  if (!allocated || !reserved) first_mismatch_ = index;
}

// `event` is a processed event or the next one.
Totals Ledger::before(std::uint64_t event) const {
  if (event >= consumed_) return now_;
  const std::uint64_t block = event / kEventsPerBlock;
  Totals totals = blocks_[block].before;
  for (std::uint64_t index = block * kEventsPerBlock; index < event; ++index) apply(index, totals);
  return totals;
}

Totals Ledger::at(std::uint64_t event) const { return event >= consumed_ ? now_ : before(event + 1); }

// Calls by_event(event, totals after it) for partly covered blocks of [first, last), and by_block() for whole ones.
template <class ByEvent, class ByBlock>
void Ledger::visit(std::uint64_t first, std::uint64_t last, ByEvent by_event, ByBlock by_block) const {
  last = std::min(last, consumed_);
  for (std::uint64_t index = first; index < last;) {
    const std::uint64_t block_end = std::min((index / kEventsPerBlock + 1) * kEventsPerBlock, consumed_);
    if (index % kEventsPerBlock == 0 && block_end <= last) {
      by_block(blocks_[index / kEventsPerBlock]);
      index = block_end;
      continue;
    }
    Totals totals = before(index);
    for (const std::uint64_t end = std::min(block_end, last); index < end; ++index) {
      apply(index, totals);
      by_event(index, totals);
    }
  }
}

Ledger::Extremes Ledger::extremes(std::uint64_t first, std::uint64_t last) const {
  std::optional<Extremes> widest;
  visit(
      first, last,
      [&](std::uint64_t index, const Totals& totals) {
        if (!widest) widest = {.low = totals, .high = totals, .low_event = index, .high_event = index};
        extend(*widest, totals, index);
      },
      [&](const Block& block) {
        if (!widest) widest = block.extremes;
        extend(*widest, block.extremes);
      });
  if (widest) return *widest;
  const Totals standing = before(first);
  const std::uint64_t event = std::min(first, consumed_) - std::min<std::uint64_t>(first, 1);
  return {.low = standing, .high = standing, .low_event = event, .high_event = event};
}

Peak Ledger::peak(std::uint64_t first, std::uint64_t last) const {
  const Extremes found = extremes(first, last);
  return {.event = found.high_event, .totals = found.high};
}

Bytes Ledger::most(std::uint64_t first, std::uint64_t last, Bytes Totals::*amount, Bytes Block::*in_block) const {
  Bytes most = 0;
  visit(
      first, last, [&](std::uint64_t, const Totals& totals) { most = std::max(most, totals.*amount); },
      [&](const Block& block) { most = std::max(most, block.*in_block); });
  return most;
}

Bytes Ledger::peak_requested(std::uint64_t first, std::uint64_t last) const {
  return most(first, last, &Totals::requested, &Block::most_requested);
}

Bytes Ledger::peak_reserved(std::uint64_t first, std::uint64_t last) const {
  return most(first, last, &Totals::reserved, &Block::most_reserved);
}

std::vector<const Storage*> Ledger::alive(std::uint64_t event) const {
  std::vector<const Storage*> found;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].alive == 0 && groups_[g].last_death <= event) continue;
    const std::size_t end = std::min((g + 1) * kStoragesPerGroup, storages_.size());
    if (storages_[g * kStoragesPerGroup].born > event) break;
    for (std::size_t i = g * kStoragesPerGroup; i < end; ++i)
      if (storages_[i].born <= event && event < storages_[i].died) found.push_back(&storages_[i]);
  }
  std::stable_sort(found.begin(), found.end(), [](const Storage* a, const Storage* b) { return a->block > b->block; });
  return found;
}

std::vector<AliveRow> Ledger::alive_rows(std::uint64_t event) const {
  std::map<std::pair<Category, std::uint16_t>, AliveRow> rows;
  for (const Storage* const storage : alive(event)) {
    AliveRow& row = rows[{storage->category, storage->op}];
    row.category = storage->category;
    row.op = storage->op;
    ++row.blocks;
    row.bytes += storage->block;
    if (storage->layer == kNoLayer) continue;
    row.first_layer = row.first_layer == kNoLayer ? storage->layer : std::min(row.first_layer, storage->layer);
    row.last_layer = row.last_layer == kNoLayer ? storage->layer : std::max(row.last_layer, storage->layer);
  }
  std::vector<AliveRow> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const AliveRow& a, const AliveRow& b) { return a.bytes > b.bytes; });
  return sorted;
}

}  // namespace headroom::record
