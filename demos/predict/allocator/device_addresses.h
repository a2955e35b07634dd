// Addresses returned by cudaMalloc, by which PyTorch chooses between free blocks of equal size. Observed on H200 and
// H100 (driver 580, CUDA 13): the lowest gap that is large enough, otherwise a multiple of 32 MiB below all else.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "demos/record/units.h"

namespace headroom::predict {

class DeviceAddresses {
 public:
  // `with_nccl`: communicators were made before the first segment. `known`: addresses of a recorded process, used
  // first and in order.
  explicit DeviceAddresses(bool with_nccl = false, std::vector<record::Bytes> known = {})
      : with_nccl_(with_nccl), known_(std::move(known)) {}

  // Addresses are relative to the first segment.
  record::Bytes take(record::Bytes bytes);
  void give_back(record::Bytes address, record::Bytes bytes);  // merges adjacent gaps

 private:
  bool with_nccl_;
  std::vector<record::Bytes> known_;
  std::size_t next_known_ = 0;
  bool first_ = true;
  std::map<record::Bytes, record::Bytes> gaps_;  // by address
  record::Bytes lowest_ = 0;
};

}  // namespace headroom::predict
