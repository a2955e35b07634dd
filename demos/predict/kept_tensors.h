// What one layer keeps for its backward, tensor by tensor: layer_bytes() and between_layers_bytes() in their parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// Which part of a layer a kept tensor is of. kRows: a number or two per row, which norms keep.
enum class KeptPart : std::uint8_t { kMlp, kNorms, kAttention, kRows };

struct KeptTensor {
  KeptPart part = KeptPart::kNorms;
  std::string name;     // "Gate"
  std::string symbols;  // bytes per token: "2 · F"
  record::Bytes bytes = 0;
  // Operators of the step that may have made it, by their names in a recording.
  std::vector<std::string_view> operators;

  bool operator==(const KeptTensor&) const = default;
};

// Of a layer of a Llama, in the order of the forward pass; with checkpoints what it keeps while it is run again, its own
// input aside. 1B in bf16, 4,096 tokens: 17 tensors, 445,153,280 bytes.
std::vector<KeptTensor> kept_tensors(const StepSettings& step);

}  // namespace headroom::predict
