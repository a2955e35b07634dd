// Names that students know for the operators of the model, by the kind of memory that they left behind.
#pragma once

#include <string>
#include <string_view>

#include "demos/record/ledger.h"

namespace headroom::lessons {

// "mlp.gate_proj" in weights is "MLP weights", in activations "MLP gate, up, product": operators that a list shows as
// one row have one name. An operator that is not known keeps its own, readably.
std::string tensor_name(record::Category category, std::string_view op);

// What the model computes there: "attention.q_proj" is "q projection", "mlp.rms_norm" is "RMSNorm". Operators that are one
// operation of the model have one name; "" stays "".
std::string operation_name(std::string_view op);

// "layer 3", "layers 0 to 9"; empty outside the layers.
std::string layers_text(std::uint16_t first, std::uint16_t last);

// "Logits and loss"
std::string capitalised(std::string_view text);

}  // namespace headroom::lessons
