// A model's weights under their names in files.
#pragma once

#include <vector>

#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/weights/state_tensor.h"
#include "demos/engine/llama/model/weights/stored_tensors.h"

namespace headroom::llama {

// Every weight in the model's type under transformers' name; adapters are merged, NF4 is dequantized.
std::vector<TensorToWrite> whole_model(const Model& model);

// Trained weights under transformers' names, or adapters under PEFT's.
std::vector<StateTensor> trained_tensors(const Model& model);

}  // namespace headroom::llama
