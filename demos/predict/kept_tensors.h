// The tensors that a layer keeps for backward: layer_bytes() and between_layers_bytes() in detail.
#pragma once

#include <string>
#include <vector>

#include "demos/llama/operators.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// kRows: one or two numbers per row, kept by norms.
enum class KeptPart : std::uint8_t { kMlp, kNorms, kAttention, kRows };

struct KeptTensor {
  KeptPart part = KeptPart::kNorms;
  std::string name;     // "Gate"
  std::string symbols;  // bytes per token: "2 · F"
  record::Bytes bytes = 0;
  // Operators that may have created it.
  std::vector<llama::Op> operators;

  bool operator==(const KeptTensor&) const = default;
};

// In forward order, without the layer's input; with checkpoints those of its recompute. 1B in bf16, 4,096 tokens: 17
// tensors, 445,153,280 bytes.
std::vector<KeptTensor> kept_tensors(const StepSettings& step);

}  // namespace headroom::predict
