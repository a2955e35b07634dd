// The output layer and its cross entropy, a part of the logits at a time.
#pragma once

#include <cstdint>

#include "kernels/fused_linear_cross_entropy/chunk.h"
#include "kernels/fused_linear_cross_entropy/product.h"

namespace headroom::kernels {

std::int64_t flce_scratch_bytes(const FlceProblem& problem);

struct FlceMemory {
  const void* x = nullptr;                // [N, H]
  const void* weight = nullptr;           // [V, H]
  const std::int64_t* targets = nullptr;  // [N]
  const float* grad_scale = nullptr;      // scales the gradients; null: 1
  std::int64_t* error_flag = nullptr;
  float* loss = nullptr;      // one number
  void* dx = nullptr;         // [N, H]; may be x, except for kLean, where it is fp32; null with loss_only
  void* dweight = nullptr;    // [V, H]; null without a weight gradient
  void* logits = nullptr;     // flce_logits_bytes()
  void* scratch = nullptr;    // flce_scratch_bytes(), aligned to 16
  void* workspace = nullptr;  // for partial sums, shared by the stream's GEMMs
  std::int64_t workspace_bytes = 0;
};

// Waits only for the algorithm search, once per shape. Returns 0, a cudaError_t, or kCublasError + a cublasStatus_t.
int flce_cuda(const FlceProblem& problem, const FlceMemory& memory, CUstream_st* stream);

}  // namespace headroom::kernels
