// What the norms of rows must do on any device: shared by the tests on the CPU and on a GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::test {

// RMSNorm, RMSNorm behind a residual addition, LayerNorm behind one face.
struct NormOps {
  const char* name;
  std::vector<at::Tensor> (*make_inputs)(std::int64_t rows, std::int64_t width, std::int64_t offset,
                                         at::ScalarType type, at::Device device);
  std::vector<at::Tensor> (*kernel)(const std::vector<at::Tensor>& inputs);     // with gradients
  std::vector<at::Tensor> (*torch)(const std::vector<at::Tensor>& inputs);      // PyTorch's operators
  std::vector<at::Tensor> (*reference)(const std::vector<at::Tensor>& inputs);  // float64
};
std::span<const NormOps> norm_ops();

// Results and gradients, of many sizes and all types, no worse than twice PyTorch's own against float64.
void check_norm_errors(const NormOps& ops, at::Device device);
// NaN and ±∞ in x and ∞ in dy, in one row each, and a row of zeros: all come out as those of the reference.
void check_norm_extremes(const NormOps& ops, at::Device device);
// Two runs of forward and backward give the same bits.
void check_norm_repeats(const NormOps& ops, at::Device device);
// dx over dy, the gradient around the norm and the rebuilt output give the bits of the plain way.
void check_norm_forms(at::Device device);
// No rows: no results, and gradients of the parameters that are zero.
void check_norm_empty(at::Device device);

}  // namespace headroom::test
