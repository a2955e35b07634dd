// How LibTorch's operators run on the CPU.
#pragma once

namespace headroom::llama {

// Turns oneDNN off for this process, as torch.backends.mkldnn.enabled = False does. On processors with AVX-512 or AMX
// LibTorch would multiply 16-bit matrices with oneDNN and pack attention's keys and values for it, and the scratch for
// both comes from LibTorch's allocator, in sizes that depend on the processor. LibTorch's own kernels, which processors
// with AVX2 run anyway, allocate the same everywhere, so a plan holds for any machine. Products in fp32 use MKL either way,
// and through it those of 16-bit projections (kernels::product); attention in 16 bits is slower than by oneDNN. Call it
// before the first tensor whose memory is counted.
void turn_off_onednn();

}  // namespace headroom::llama
