// Which decoder block the settings of `block` name.
#pragma once

#include "demos/llama/architecture.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// A model of that one layer, without a vocabulary: its blocks are counted as those of any other. Heads are 64 wide and F is
// 4 H, as in GPT-2 and Llama 3.2 1B. Refused: a hidden size that no whole heads make, and heads that are not shared evenly.
record::Result<llama::Architecture> block_model(const record::Params& params);

}  // namespace headroom::experiments
