// Finds the closed form's kept tensors in a recorded or predicted step.
#pragma once

#include <optional>
#include <vector>

#include "demos/predict/forms/kept_tensors.h"
#include "demos/record/ledger.h"

namespace headroom::lessons {

struct KeptMeasured {
  std::vector<record::Bytes> tensors;  // of a middle layer, in list order; -1: not found
  record::Bytes layer = 0;             // all that this layer keeps
  std::vector<record::Bytes> all;      // over all layers, per tensor
  record::Bytes activations = 0;       // of the whole model
};

// At the end of the last whole step's forward pass. A tensor is the block of its operators with the nearest size,
// largest tensors first. Empty if there is no such step.
std::optional<KeptMeasured> kept_measured(const record::Ledger& run, const std::vector<predict::KeptTensor>& tensors,
                                          std::int64_t layers);

}  // namespace headroom::lessons
