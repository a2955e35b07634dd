// At which addresses the CUDA driver places what cudaMalloc asks for, as far as PyTorch's allocator depends on it: of
// two free blocks of one size it takes the one with the lower address. Seen on an H200 with driver 580 and CUDA 13: the
// lowest gap that is large enough; without one, whole 32 MiB below everything that there is.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "demos/record/units.h"

namespace headroom::predict {

class DeviceAddresses {
 public:
  // `known`: the addresses that a process was given, in their order; the first ones are these, later ones below them.
  explicit DeviceAddresses(std::vector<record::Bytes> known = {}) : known_(std::move(known)) {}

  // Addresses count from the begin of the first segment of a process, either way.
  record::Bytes take(record::Bytes bytes);
  void give_back(record::Bytes address, record::Bytes bytes);

 private:
  void add_gap(record::Bytes address, record::Bytes bytes);

  std::vector<record::Bytes> known_;
  std::size_t next_known_ = 0;
  bool first_ = true;
  std::map<record::Bytes, record::Bytes> gaps_;  // address and size
  record::Bytes lowest_ = 0;                     // of all that were taken
};

}  // namespace headroom::predict
