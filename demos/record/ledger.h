// Replays events to totals: live bytes by category, peaks, and live blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "demos/record/file/id_table.h"
#include "demos/record/recording.h"

namespace headroom::record {

// Live bytes after an event. `by_category` sums to `allocated` (block bytes).
struct Totals {
  ByCategory by_category{};
  Bytes allocated = 0;
  Bytes requested = 0;
  Bytes reserved = 0;  // 0 without segments (CPU, predictions)
};

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

struct Storage {
  std::uint64_t id = 0;
  std::uint64_t born = 0;       // event index
  std::uint64_t died = kNever;  // event index; kNever: alive at the end
  Bytes requested = 0;
  Bytes block = 0;
  Category category = Category::kOther;  // set by the last relabel
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  std::uint16_t op = kNoOperator;
};

struct Peak {
  std::uint64_t event = 0;  // totals after this event
  Totals totals;
};

struct AliveRow {
  Category category = Category::kOther;
  std::uint16_t op = kNoOperator;
  std::uint16_t first_layer = kNoLayer;
  std::uint16_t last_layer = kNoLayer;
  std::uint32_t blocks = 0;
  Bytes bytes = 0;  // block bytes
};

class Ledger {
 public:
  // Follows the events of the recording's device. The recording must outlive the ledger. Impossible events (freeing
  // an unknown storage, allocating one twice) change nothing.
  explicit Ledger(const Recording& recording);

  // Adds new events; a late relabel corrects past totals.
  void update();

  const Recording& recording() const { return *recording_; }
  // Ledgers of Recording::other_ranks(), as of the last update().
  std::span<const Ledger> other_ranks() const { return other_ranks_; }
  std::uint64_t size() const { return consumed_; }

  // Totals after `event`; 0 without events. Replays one block, not all events.
  Totals at(std::uint64_t event) const;
  // The first event with the most allocated bytes in [first, last). `last` may exceed the end.
  Peak peak(std::uint64_t first = 0, std::uint64_t last = kNever) const;
  Bytes peak_requested(std::uint64_t first = 0, std::uint64_t last = kNever) const;
  Bytes peak_reserved(std::uint64_t first = 0, std::uint64_t last = kNever) const;

  const std::vector<Storage>& storages() const { return storages_; }
  // Live storages, largest block first.
  std::vector<const Storage*> alive(std::uint64_t event) const;
  std::vector<AliveRow> alive_rows(std::uint64_t event) const;

  // Lowest and highest totals in [first, last); of equal totals the first. An empty range has the totals before it.
  struct Extremes {
    Totals low, high;
    std::uint64_t low_event = 0, high_event = 0;
  };
  Extremes extremes(std::uint64_t first, std::uint64_t last) const;

  // First event where the allocator's reported totals differ from the ledger's, or kNever; for tests.
  std::uint64_t first_mismatch() const { return first_mismatch_; }

 private:
  // An event's effect. 0: none; otherwise a storage's index + 1, or a segment's index + 1 with kSegmentBit. The effect
  // is an allocation if the object was born at this event, otherwise a free.
  using Effect = std::uint32_t;
  static constexpr Effect kSegmentBit = Effect{1} << 31;

  struct Segment {
    std::uint64_t born = 0, died = kNever;
    Bytes bytes = 0;
  };
  // Totals before a block of kEventsPerBlock events, and the extremes within it.
  static constexpr std::uint64_t kEventsPerBlock = 64;
  struct Block {
    Totals before;
    Extremes extremes;
    Bytes most_requested = 0, most_reserved = 0;
  };
  // kStoragesPerGroup storages in order of birth; alive() skips groups that are dead.
  static constexpr std::size_t kStoragesPerGroup = 256;
  struct Group {
    std::uint32_t alive = 0;
    std::uint64_t last_death = 0;
  };

  void make_room(const std::vector<MemEvent>& events);
  Effect track(std::uint64_t index, const MemEvent& event);
  Effect track_birth(std::uint64_t index, const MemEvent& event);
  Effect track_death(std::uint64_t index, const MemEvent& event);
  void track_relabel(const MemEvent& event);
  Effect track_segment(std::uint64_t index, const MemEvent& event);
  void correct_past(const Storage& storage, Category before);
  void add_to_block(std::uint64_t index);
  void compare_with_allocator(std::uint64_t index, const MemEvent& event);

  void apply(std::uint64_t index, Totals& totals) const;
  Totals before(std::uint64_t event) const;
  template <class ByEvent, class ByBlock>
  void visit(std::uint64_t first, std::uint64_t last, ByEvent by_event, ByBlock by_block) const;
  Bytes most(std::uint64_t first, std::uint64_t last, Bytes Totals::*amount, Bytes Block::*in_block) const;

  const Recording* recording_;
  std::vector<Ledger> other_ranks_;
  std::uint64_t consumed_ = 0;
  std::vector<Storage> storages_;
  std::vector<Segment> segments_;
  IdTable storage_of_;                                      // including freed storages, which may be relabeled late
  IdTable segment_of_;                                      // live segments only
  std::unordered_map<std::uint32_t, Category> relabelled_;  // during update(): old categories
  std::vector<Effect> effects_;
  std::vector<Block> blocks_;
  std::vector<Group> groups_;
  Totals now_;
  // Live bytes while tracking; their sums fit in 62 bits.
  Bytes promised_block_ = 0, promised_requested_ = 0, promised_reserved_ = 0;
  std::uint64_t first_mismatch_ = kNever;
};

}  // namespace headroom::record
