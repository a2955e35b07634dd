// A model's weights under their names in files.
#pragma once

#include <span>
#include <vector>

#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/engine/llama/model/weights/stored_tensors.h"

namespace headroom::llama {

// Every weight in the model's type under transformers' name; adapters are merged, NF4 is dequantized. `held`: all
// weights of the model without adapters, or this rank's parts of them.
std::vector<TensorToWrite> whole_model(const Model& model, std::span<const Parameter> held);

// Trained weights under transformers' names, or adapters under PEFT's. `held`: as above, or the adapters.
std::vector<StateTensor> trained_tensors(const Model& model, std::span<const Parameter> held);

}  // namespace headroom::llama
