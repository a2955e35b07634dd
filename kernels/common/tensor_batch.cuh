// Many tensors in one launch: their list is a kernel argument, so nothing is copied first.
#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime.h>

namespace headroom::kernels {

// `Tensor::n` counts a tensor's elements. Since CUDA 12.1, kernel arguments may take 32,764 bytes on compute capability
// 7.0 and later: 320 tensors of 72 bytes are 24 KB. Llama 3 8B has 291 weights.
template <typename Tensor, int kMost>
struct TensorBatch {
  Tensor tensor[kMost];
  unsigned first_block[kMost + 1];  // the last entry is the number of blocks
  int count;

  // The last tensor whose first block is ≤ `block`.
  __device__ int tensor_of(unsigned block) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (first_block[middle] <= block) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

// Calls launch(batch, blocks) for up to kMost tensors at a time. Each block processes `block_elements` elements of one
// tensor. Returns the first error.
template <int kMost, typename Tensor, typename Launch>
int for_each_batch(std::span<const Tensor> tensors, std::int64_t block_elements, const Launch& launch) {
  for (std::size_t done = 0; done < tensors.size();) {
    TensorBatch<Tensor, kMost> batch;
    static_assert(sizeof(batch) < 32'000);
    batch.count = 0;
    batch.first_block[0] = 0;
    for (; done < tensors.size() && batch.count < kMost; ++done) {
      const Tensor& tensor = tensors[done];
      if (tensor.n == 0) continue;
      // The embedding of Llama 3 8B: 128256 · 4096 = 5.3e8 elements = 128,256 blocks of 4096.
      const auto blocks = static_cast<unsigned>((tensor.n + block_elements - 1) / block_elements);
      batch.tensor[batch.count] = tensor;
      batch.first_block[batch.count + 1] = batch.first_block[batch.count] + blocks;
      ++batch.count;
    }
    if (batch.count == 0) break;
    if (const int error = launch(batch, batch.first_block[batch.count]); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace headroom::kernels
