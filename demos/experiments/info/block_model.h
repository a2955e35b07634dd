// The decoder block that the settings of `block` describe.
#pragma once

#include "demos/llama/architecture.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// A model of this block alone, without a vocabulary. Heads are 64 wide and F is 4 H, as in GPT-2 and Llama 3.2 1B.
// Refuses hidden sizes that are not a multiple of 64, and heads that cannot be shared evenly.
record::Result<llama::Architecture> block_model(const record::Params& params);

}  // namespace headroom::experiments
