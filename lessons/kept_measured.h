// What of a recorded or predicted step the closed form's kept tensors are.
#pragma once

#include <optional>
#include <vector>

#include "demos/predict/kept_tensors.h"
#include "demos/record/ledger.h"

namespace headroom::lessons {

struct KeptMeasured {
  std::vector<record::Bytes> tensors;  // of one layer in the middle, as the list has them; -1: not found
  record::Bytes layer = 0;             // all that it keeps
  std::vector<record::Bytes> all;      // of all layers, tensor by tensor
  record::Bytes activations = 0;       // of the whole model
};

// Where the forward pass of the last whole step ends. A tensor is the block of one of its operators whose size is the
// nearest, the largest first. Nothing: there is no such step.
std::optional<KeptMeasured> kept_measured(const record::Ledger& run, const std::vector<predict::KeptTensor>& tensors,
                                          std::int64_t layers);

}  // namespace headroom::lessons
