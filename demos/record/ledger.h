// Replays events to what a person asks: live bytes by category at any event, the peak, the blocks alive and what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::record {

// Live bytes after an event. `by_category` adds up to `allocated` (block bytes).
struct Totals {
    ByCategory by_category{};
    Bytes allocated = 0;
    Bytes requested = 0;
    Bytes reserved = 0; // segments held; 0 where the allocator has none (CPU, predictions)
};

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// A storage's whole life.
struct Storage {
    std::uint64_t id = 0;
    std::uint64_t born = 0;      // event index
    std::uint64_t died = kNever; // event index; kNever: still alive at the end
    Bytes requested = 0;
    Bytes block = 0;
    Category category = Category::kOther; // the last relabel's
    Phase phase = Phase::kSetup;
    std::uint16_t layer = kNoLayer;
    std::uint16_t op = kNoOperator;
};

struct Peak {
    std::uint64_t event = 0; // totals after this event
    Totals totals;
};

// Blocks of one operator and category together: the rows of "alive here", largest first.
struct AliveRow {
    Category category = Category::kOther;
    std::uint16_t op = kNoOperator;
    std::uint16_t first_layer = kNoLayer; // kNoLayer: outside the layers
    std::uint16_t last_layer = kNoLayer;
    std::uint32_t blocks = 0;
    Bytes bytes = 0; // block bytes
};

class Ledger {
public:
    // Follows the events of the recording's own device (`info().device`). The recording must outlive the ledger.
    explicit Ledger(const Recording& recording);

    // Takes in what the recording has gained. Cheap when nothing is new. A late relabel corrects the past.
    void update();

    const Recording& recording() const { return *recording_; }
    std::uint64_t size() const { return consumed_; } // events taken in

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

    // Lowest and highest totals among the events in [first, last), each a vector that existed.
    struct Extremes {
        Totals low, high;
        std::uint64_t low_event = 0, high_event = 0;
    };
    Extremes extremes(std::uint64_t first, std::uint64_t last) const;

    // Where the allocator reported its own totals and the ledger's differ: the first such event, or kNever. A test's question.
    std::uint64_t first_mismatch() const { return first_mismatch_; }

private:
    static constexpr std::uint64_t kBlock = 256; // events whose extremes are kept together
    // In storage_of_event_: events that change nothing (or were not ours), and segments taken or given back.
    static constexpr std::uint32_t kNoStorage = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t kSegment = kNoStorage - 1;

    // Totals before the block's first event, and the extremes after its events.
    struct Block {
        Totals start;
        Extremes extremes;
        Bytes most_requested = 0;
        Bytes most_reserved = 0;
    };

    void take(const MemEvent& event);
    void relabel(std::uint32_t index, Category category);
    void apply(std::uint64_t event, Totals& totals) const; // what the event did to the totals
    template <class Visit, class VisitBlock>
    void walk(std::uint64_t first, std::uint64_t last, Visit visit, VisitBlock visit_block) const;

    const Recording* recording_;
    std::uint64_t consumed_ = 0;
    std::uint64_t first_mismatch_ = kNever;
    Totals now_;
    std::vector<Storage> storages_;
    std::vector<std::uint32_t> storage_of_event_; // index into storages_, kNoStorage or kSegment
    std::unordered_map<std::uint64_t, std::uint32_t> alive_;    // id → index into storages_
    std::unordered_set<std::uint64_t> segments_;                // ids
    std::vector<Block> blocks_;
};

} // namespace headroom::record
