// What a process holds of a device's memory, by address: segments, and of a segment that shrinks what is left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "demos/record/units.h"

namespace headroom::predict {

class HeldMemory {
 public:
  struct Place {
    std::uint64_t segment = 0;
    record::Bytes offset = 0;  // from where the segment began when it was taken
  };
  struct Part {
    std::uint64_t segment = 0;
    record::Bytes address = 0, bytes = 0;
  };

  void take(std::uint64_t segment, record::Bytes address, record::Bytes bytes);
  // A range may be of several segments, and of a part of one: what each gives, by address.
  std::vector<Part> give_back(record::Bytes address, record::Bytes bytes);
  // Nothing: the process does not hold this address.
  std::optional<Place> find(record::Bytes address) const;
  void clear() { parts_.clear(); }

 private:
  struct Held {
    std::uint64_t segment = 0;
    record::Bytes began = 0;  // the segment, when it was taken
    record::Bytes bytes = 0;  // of this part
  };
  std::map<record::Bytes, Held> parts_;  // by address
};

}  // namespace headroom::predict
