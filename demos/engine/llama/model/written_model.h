// A model's weights under the names that files have for them.
#pragma once

#include <vector>

#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/model/state_tensor.h"
#include "demos/engine/llama/model/stored_tensors.h"

namespace headroom::llama {

// Every weight in the model's type, as transformers names it; adapters are added to theirs, and NF4 is dequantized.
std::vector<TensorToWrite> whole_model(const Model& model);

// What a step trains: the weights as transformers names them, or the adapters as PEFT does.
std::vector<StateTensor> trained_tensors(const Model& model);

}  // namespace headroom::llama
