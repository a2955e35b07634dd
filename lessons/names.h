// Names that students know for the model's operators, by kind of memory.
#pragma once

#include <string>
#include <string_view>

#include "demos/record/ledger.h"

namespace headroom::lessons {

// "mlp.gate_proj" is "MLP weights" in weights, "MLP gate, up, product" in activations. Operators listed as one row
// share a name. An unknown operator keeps its own name, made readable.
std::string tensor_name(record::Category category, std::string_view op);

// "attention.q_proj" is "q projection"; "" stays "".
std::string operation_name(std::string_view op);

// "layer 3", "layers 0 to 9"; empty outside the layers.
std::string layers_text(std::uint16_t first, std::uint16_t last);

std::string capitalised(std::string_view text);

}  // namespace headroom::lessons
