#include "lessons/names.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace headroom::lessons {
namespace {

using record::Category;

struct OperatorName {
  std::string_view op;
  std::string_view part;    // for weights, their gradients and workspace: "MLP"
  std::string_view output;  // kept for backward
};

constexpr std::string_view kGate = "MLP gate, up, product";
constexpr std::string_view kQkv = "Query, key, value";
constexpr std::string_view kStream = "Norm inputs, residuals";

constexpr std::array kOperators{
    OperatorName{"tokens", "", "Token ids"},
    OperatorName{"rope.tables", "", "RoPE tables"},
    OperatorName{"matmul.workspace", "Matrix product", "Matrix products"},
    OperatorName{"embedding", "Embedding", "Embedded tokens"},
    OperatorName{"positions", "Positions", "Embedded tokens"},
    OperatorName{"block.input", "", "Block input"},
    OperatorName{"block.upstream", "", "Gradient of the result"},
    OperatorName{"attention.layer_norm", "Norm", kStream},
    OperatorName{"attention.dropout", "", "Dropout"},
    OperatorName{"attention.rms_norm", "Norm", kStream},
    OperatorName{"attention.q_proj", "Attention", kQkv},
    OperatorName{"attention.k_proj", "Attention", kQkv},
    OperatorName{"attention.v_proj", "Attention", kQkv},
    OperatorName{"attention.q_norm", "Norm", kQkv},
    OperatorName{"attention.k_norm", "Norm", kQkv},
    OperatorName{"attention.rope", "", kQkv},
    OperatorName{"attention.repeat_kv", "", kQkv},
    OperatorName{"attention.mask", "", "Attention mask"},
    OperatorName{"attention.scores", "Attention", "Attention outputs"},
    OperatorName{"attention.o_proj", "Attention", kStream},
    OperatorName{"attention.residual", "", kStream},
    OperatorName{"mlp.layer_norm", "Norm", kStream},
    OperatorName{"mlp.gelu", "", "GELU"},
    OperatorName{"mlp.dropout", "", "Dropout"},
    OperatorName{"mlp.rms_norm", "Norm", kStream},
    OperatorName{"mlp.gate_proj", "MLP", kGate},
    OperatorName{"mlp.up_proj", "MLP", kGate},
    OperatorName{"mlp.silu", "", kGate},
    OperatorName{"mlp.product", "", kGate},
    OperatorName{"mlp.down_proj", "MLP", kStream},
    OperatorName{"mlp.residual", "", kStream},
    OperatorName{"final.rms_norm", "Norm", kStream},
    OperatorName{"lm_head", "Output head", "Logits"},
    OperatorName{"loss.to_fp32", "", "Logits in fp32"},
    OperatorName{"loss.shift", "", "Shifted logits"},
    OperatorName{"loss.log_softmax", "", "Log-softmax"},
    OperatorName{"loss.nll", "", "Loss and its gradient"},
    OperatorName{"loss_scale", "Loss scale", "Loss scale"},
    OperatorName{"layer.input", "", "Kept layer inputs"},
    OperatorName{"layer.weights", "Streamed", "Streamed weights"},
    OperatorName{"layer.finite_check", "", "Marks of NaN"},
    OperatorName{"adamw.master", "Master weights", "Master weights"},
    OperatorName{"adamw.first_moment", "First moment", "First moment"},
    OperatorName{"adamw.second_moment", "Second moment", "Second moment"},
    OperatorName{"adamw.step_count", "Step count", "Step count"},
    OperatorName{"adamw.overflow", "Marks of overflow", "Marks of overflow"},
    OperatorName{"galore.projection", "Projection", "Projection"},
    OperatorName{"galore.update", "Projected update", "Projected update"},
};

// By the last part of an operator's name.
struct Operation {
  std::string_view last, name;
};
constexpr std::array kOperations{
    Operation{"tokens", "token ids"},
    Operation{"rms_norm", "RMSNorm"},
    Operation{"layer_norm", "LayerNorm"},
    Operation{"gelu", "GELU"},
    Operation{"rope", "RoPE"},
    Operation{"tables", "RoPE"},
    Operation{"scores", "attention"},
    Operation{"mask", "attention"},
    Operation{"repeat_kv", "attention"},
    Operation{"silu", "SwiGLU"},
    Operation{"product", "SwiGLU"},
    Operation{"swiglu", "SwiGLU"},
    Operation{"residual", "residual add"},
    Operation{"lm_head", "output head"},
    Operation{"to_fp32", "cross entropy"},
    Operation{"shift", "cross entropy"},
    Operation{"log_softmax", "cross entropy"},
    Operation{"nll", "cross entropy"},
    Operation{"cross_entropy", "cross entropy"},
    Operation{"adamw", "AdamW"},
    Operation{"first_moment", "AdamW"},
    Operation{"second_moment", "AdamW"},
};

// "mlp.some_new_op" → "Mlp, some new op"
std::string readable(std::string_view op) {
  std::string text;
  for (const char c : op) {
    if (c == '.') {
      text += ", ";
    } else {
      text += c == '_' ? ' ' : c;
    }
  }
  return capitalised(text);
}

}  // namespace

std::string tensor_name(Category category, std::string_view op) {
  const auto* known = std::find_if(kOperators.begin(), kOperators.end(), [op](const auto& o) { return o.op == op; });
  if (known == kOperators.end()) return op.empty() ? capitalised(record::label_of(category)) : readable(op);
  const bool has_part = !known->part.empty();
  switch (category) {
    case Category::kWeights:
      return has_part ? fmt::format("{} weights", known->part) : std::string(known->output);
    case Category::kGradients:
      return has_part ? fmt::format("{} weight gradients", known->part) : fmt::format("{}, gradient", known->output);
    case Category::kOptimizerState:
      return has_part ? std::string(known->part) : std::string(known->output);
    case Category::kWorkspace:
      return has_part ? fmt::format("{} workspace", known->part) : capitalised(record::label_of(category));
    default:
      return std::string(known->output);
  }
}

std::string operation_name(std::string_view op) {
  const std::string_view last = op.substr(op.rfind('.') + 1);
  const auto* known =
      std::find_if(kOperations.begin(), kOperations.end(), [last](const Operation& o) { return o.last == last; });
  if (known != kOperations.end()) return std::string(known->name);
  constexpr std::string_view kProjection = "_proj";
  if (last.ends_with(kProjection))
    return fmt::format("{} projection", last.substr(0, last.size() - kProjection.size()));
  std::string words(last);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string layers_text(std::uint16_t first, std::uint16_t last) {
  if (first == record::kNoLayer || last == record::kNoLayer) return {};
  return first == last ? fmt::format("layer {}", first) : fmt::format("layers {} to {}", first, last);
}

std::string capitalised(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

}  // namespace headroom::lessons
