// The tensors that a layer keeps for its backward pass. The closed form is their sum.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/llama/operators.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

// kRows: one or two numbers per row, kept by norms.
enum class KeptPart : std::uint8_t { kMlp, kNorms, kAttention, kRows };

struct KeptTensor {
  KeptPart part = KeptPart::kNorms;
  record::Bytes LayerBytes::*term = nullptr;  // null: kept between layers
  std::string_view of, what;                  // "MLP norm", "input"; `of` may be empty
  std::int64_t factor = 0;                    // bytes per number
  std::string_view symbol;                    // numbers per token: "F"; empty: one
  record::Bytes all_layers = 0, bytes = 0;    // `bytes`: a layer's average
  // Operators that may have created it.
  std::array<std::optional<llama::Op>, 4> operators;

  std::string name() const;     // "MLP norm: input"
  std::string symbols() const;  // bytes per token: "2 · F"
  bool operator==(const KeptTensor&) const = default;
};

// In forward order, excluding the layer's input. With checkpoints these are the tensors that a recompute keeps. If
// layers differ, the list has the tensors of each kind of layer. 1B in bf16, 4,096 tokens: 17 tensors, 445,153,280
// bytes.
std::vector<KeptTensor> kept_tensors(const StepSettings& step);

}  // namespace headroom::predict
