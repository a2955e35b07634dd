// A process's device memory by address.
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
    record::Bytes offset = 0;  // from the segment's original begin
  };
  struct Part {
    std::uint64_t segment = 0;
    record::Bytes address = 0, bytes = 0;
  };

  void take(std::uint64_t segment, record::Bytes address, record::Bytes bytes);
  // The range may span several segments or only part of one. Returns its parts in order of address.
  std::vector<Part> give_back(record::Bytes address, record::Bytes bytes);
  std::optional<Place> find(record::Bytes address) const;
  void clear() { parts_.clear(); }

 private:
  struct Held {
    std::uint64_t segment = 0;
    record::Bytes began = 0;  // the segment's original begin
    record::Bytes bytes = 0;
  };
  std::map<record::Bytes, Held> parts_;  // by address
};

}  // namespace headroom::predict
