// Switches of LibTorch's CPU backend.
#include "demos/engine/llama/model/cpu_operators.h"

#include <ATen/Context.h>

namespace headroom::llama {

void turn_off_onednn() { at::globalContext().setUserEnabledMkldnn(false); }

}  // namespace headroom::llama
