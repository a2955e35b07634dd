// The output layer and its cross entropy, a part of the logits at a time, on raw memory. No torch.
#pragma once

#include <cstdint>

#include "kernels/common/storage.h"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/fused_linear_cross_entropy/chunk.h"
#include "kernels/fused_linear_cross_entropy/product.h"

namespace headroom::kernels {

struct FlceProblem {
  FlceMode mode = FlceMode::kChunked;
  Storage storage = Storage::kBf16;   // of x, weight and, but for kLean, dx
  bool fp32_weight_gradient = false;  // else dweight has `storage`
  std::int64_t tokens = 0, hidden = 0, vocab = 0;
  std::int64_t chunk = 1;         // tokens or columns, as the mode says
  std::int64_t valid_count = -1;  // rows that are not ignored; -1: not known, all rows are taken
  std::int64_t ignore_index = -100;
  float label_smoothing = 0;
  Reduction reduction = Reduction::kMean;  // mean or sum
  bool weight_gradient = true;             // else the weight is frozen: no dweight
  bool accumulate = false;                 // adds to dweight
  bool search = true;                      // time cuBLASLt's algorithms once a shape
  bool forward_only = false;               // neither dx nor dweight; kChunked
};

// Whether ignored rows are left out: the rest is copied together, a chunk at a time. kLean takes all rows.
bool flce_gathers(const FlceProblem& problem);
// Rows that are multiplied, and how many of them (kChunked, kReport) or columns (kLean) at a time.
std::int64_t flce_rows(const FlceProblem& problem);
std::int64_t flce_step(const FlceProblem& problem);
// Elements from one row of the part of the logits to the next: a multiple of 8, so that rows begin at 16 bytes.
std::int64_t flce_logits_stride(const FlceProblem& problem);

// What a call needs beside x, weight, dx and dweight. The part of the logits, and everything else.
std::int64_t flce_logits_bytes(const FlceProblem& problem);
std::int64_t flce_scratch_bytes(const FlceProblem& problem);

struct FlceMemory {
  const void* x = nullptr;                // [N, H]
  const void* weight = nullptr;           // [V, H]
  const std::int64_t* targets = nullptr;  // [N]
  const float* grad_scale = nullptr;      // one number; the gradients are made for this upstream gradient; null: 1
  std::int64_t* error_flag = nullptr;
  float* loss = nullptr;      // one number
  void* dx = nullptr;         // [N, H]; may be x, but for kLean, where it is fp32
  void* dweight = nullptr;    // [V, H]; null without a weight gradient
  void* logits = nullptr;     // flce_logits_bytes()
  void* scratch = nullptr;    // flce_scratch_bytes(), at a multiple of 16
  void* workspace = nullptr;  // for partial sums of products, shared by all products of the stream
  std::int64_t workspace_bytes = 0;
};

// Queues everything on the stream, waits for nothing (but for the one search per shape), allocates nothing. Returns 0, a
// cudaError_t, or kCublasError + a cublasStatus_t.
int flce_cuda(const FlceProblem& problem, const FlceMemory& memory, CUstream_st* stream);

}  // namespace headroom::kernels
