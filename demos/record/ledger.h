// Replays events to what a person asks: live bytes by category at any event, the peak, the blocks alive and what they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "demos/record/id_table.h"
#include "demos/record/recording.h"

namespace headroom::record {

// Live bytes after an event. `by_category` adds up to `allocated` (block bytes).
struct Totals {
  ByCategory by_category{};
  Bytes allocated = 0;
  Bytes requested = 0;
  Bytes reserved = 0;  // segments held; 0 where the allocator has none (CPU, predictions)
};

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// A storage's whole life.
struct Storage {
  std::uint64_t id = 0;
  std::uint64_t born = 0;       // event index
  std::uint64_t died = kNever;  // event index; kNever: still alive at the end
  Bytes requested = 0;
  Bytes block = 0;
  Category category = Category::kOther;  // the last relabel's
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  std::uint16_t op = kNoOperator;
};

struct Peak {
  std::uint64_t event = 0;  // totals after this event
  Totals totals;
};

// Blocks of one operator and category together: the rows of "alive here", largest first.
struct AliveRow {
  Category category = Category::kOther;
  std::uint16_t op = kNoOperator;
  std::uint16_t first_layer = kNoLayer;  // kNoLayer: outside the layers
  std::uint16_t last_layer = kNoLayer;
  std::uint32_t blocks = 0;
  Bytes bytes = 0;  // block bytes
};

class Ledger {
 public:
  // Follows the events of the recording's own device (`info().device`). The recording must outlive the ledger. Events
  // that cannot be (a free of what was never allocated, a second birth) change nothing.
  explicit Ledger(const Recording& recording);

  // Takes in what the recording has gained. Cheap when nothing is new. A late relabel corrects the past.
  void update();

  const Recording& recording() const { return *recording_; }
  std::uint64_t size() const { return consumed_; }  // events taken in

  // Totals after event `event`; before the first: all zero. O(block), not O(events).
  Totals at(std::uint64_t event) const;
  // The first event with the most allocated bytes in [first, last); last beyond the end means the end.
  Peak peak(std::uint64_t first = 0, std::uint64_t last = kNever) const;
  Bytes peak_requested(std::uint64_t first = 0, std::uint64_t last = kNever) const;
  Bytes peak_reserved(std::uint64_t first = 0, std::uint64_t last = kNever) const;

  const std::vector<Storage>& storages() const { return storages_; }
  // Storages alive after event `event`, largest block first.
  std::vector<const Storage*> alive(std::uint64_t event) const;
  std::vector<AliveRow> alive_rows(std::uint64_t event) const;

  // Lowest and highest totals among the events in [first, last), each one that existed; of equals the first. In an
  // empty range both are the totals before it.
  struct Extremes {
    Totals low, high;
    std::uint64_t low_event = 0, high_event = 0;
  };
  Extremes extremes(std::uint64_t first, std::uint64_t last) const;

  // Where the allocator reported its own totals and the ledger's differ: the first such event, or kNever. A test's
  // question.
  std::uint64_t first_mismatch() const { return first_mismatch_; }

 private:
  // What an event does: 0 nothing; else a storage's number + 1, or a segment's number + 1 with kSegmentBit. It is a
  // birth where that was born at this event, else a death.
  using Effect = std::uint32_t;
  static constexpr Effect kSegmentBit = Effect{1} << 31;

  struct Segment {
    std::uint64_t born = 0, died = kNever;
    Bytes bytes = 0;
  };
  // kEventsPerBlock events: the totals before them and the extremes among them.
  static constexpr std::uint64_t kEventsPerBlock = 64;
  struct Block {
    Totals before;
    Extremes extremes;
    Bytes most_requested = 0, most_reserved = 0;
  };
  // kStoragesPerGroup storages in order of birth: lets alive() pass over those that are long gone.
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

  void apply(std::uint64_t index, Totals& totals) const;  // what the event did to the totals
  Totals before(std::uint64_t event) const;
  template <class Visit>
  void visit(std::uint64_t first, std::uint64_t last, Visit visit) const;

  const Recording* recording_;
  std::uint64_t consumed_ = 0;
  std::vector<Storage> storages_;
  std::vector<Segment> segments_;
  IdTable storage_of_;                                      // the dead too: a late relabel may be theirs
  IdTable segment_of_;                                      // the living
  std::unordered_map<std::uint32_t, Category> relabelled_;  // during update(): old storages and what they were
  std::vector<Effect> effects_;
  std::vector<Block> blocks_;
  std::vector<Group> groups_;
  Totals now_;
  Bytes promised_block_ = 0, promised_requested_ = 0, promised_reserved_ = 0;  // alive while tracking; sums fit 62 bits
  std::uint64_t first_mismatch_ = kNever;
};

}  // namespace headroom::record
