// Finds the closed form's kept tensors in a recorded or predicted step.
#pragma once

#include <optional>
#include <vector>

#include "demos/predict/forms/kept_tensors.h"
#include "demos/record/ledger.h"

namespace headroom::lessons {

struct KeptMeasured {
  std::vector<record::Bytes> tensors;  // bytes in a middle layer, in list order; -1: not found
  record::Bytes layer = 0;             // all that the middle layer keeps
  std::vector<record::Bytes> all;      // bytes per tensor over all layers
  record::Bytes activations = 0;       // bytes of the whole model
};

// Measured at the end of the last whole step's forward pass. Matches each tensor, largest first, with the memory
// block nearest in size among those that its operators allocated. Empty if there is no such step.
std::optional<KeptMeasured> kept_measured(const record::Ledger& run, const std::vector<predict::KeptTensor>& tensors,
                                          std::int64_t layers);

}  // namespace headroom::lessons
