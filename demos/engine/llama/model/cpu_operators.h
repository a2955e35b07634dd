// Settings of LibTorch's CPU operators.
#pragma once

#include <ATen/Context.h>

namespace headroom::llama {

// Turns oneDNN off for this process. With AVX-512 or AMX, oneDNN's scratch for 16-bit GEMMs and attention depends on
// the processor; without oneDNN a plan holds for any machine. GEMMs in fp32 and of 16-bit projections
// (kernels::product) use MKL either way; 16-bit attention gets slower. Call it before the first counted tensor.
inline void turn_off_onednn() { at::globalContext().setUserEnabledMkldnn(false); }

}  // namespace headroom::llama
