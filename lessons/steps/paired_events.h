// Pairs the allocations and frees of one run's step with those of another run's, up to the first that differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/ledger.h"

namespace headroom::lessons {

// Events [first, last) of a run.
struct EventRange {
  const record::Ledger& run;
  std::uint64_t first = 0, last = 0;
};

// The first event of each run that has no partner; empty if the run's range has ended.
struct Parting {
  std::optional<std::uint64_t> run, other;
};

// Two events are partners if kind, bytes, kind of memory, phase, layer and operator are equal. Segments and host memory
// do not count, since they do not change what is allocated.
class PairedEvents {
 public:
  PairedEvents(const EventRange& run, const EventRange& other);

  std::size_t size() const { return run_.size(); }
  // Empty if all events have partners.
  const std::optional<Parting>& parting() const { return parting_; }
  // True if the same bytes of each kind were allocated before the first event.
  bool same_before() const { return same_before_; }
  bool equal() const { return !parting_ && same_before_; }

  // The partner of the run's first paired event from `event` on, else where the other run's events part or end.
  std::uint64_t other_from(std::uint64_t event) const;

 private:
  std::vector<std::uint64_t> run_, other_;  // paired events
  std::optional<Parting> parting_;
  bool same_before_ = false;
  std::uint64_t other_end_ = 0;
};

// "allocate 4.00 MiB, activations, forward, layer 3, SiLU"; "no further event" at the end of a range. Bytes are rounded
// for text, unless both would read the same; figures have one unit, so theirs are exact.
struct PartingWords {
  std::string run, other;
};
enum class EventBytes : std::uint8_t { kRounded, kExact };
PartingWords parting_words(const Parting& parting, const record::Ledger& run, const record::Ledger& other,
                           EventBytes bytes);

}  // namespace headroom::lessons
