// GEMMs of linear layers on tensors: by LibTorch, or with operands narrower than fp32 or bf16.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "kernels/fp8_cast/fp8_cast_ops.h"

namespace headroom::kernels {

struct ProductOptions {
  bool adds = false;  // to the result
  double alpha = 1;
  // NVIDIA's TF32: fp32 operands are read with 10 fraction bits, sums are fp32. GPUs before Ampere round operands on
  // their way to shared memory. CPUs round them a tile at a time, in 3 MiB per thread outside LibTorch's allocator.
  bool tf32 = false;
};

enum class NarrowFormat : std::uint8_t { kTf32, kFp8 };

// True if the current GPU computes GEMMs of this format without tensor cores. Allocations are the same either way.
bool products_emulated(NarrowFormat format);
void emulate_narrow_products(bool always);  // `always`: on every GPU, to compare

// result [N, P] = alpha · a [N, M] · b [M, P], or += with options.adds. All have one type; strides are free. If an
// algorithm was found for its shapes, a 16-bit GEMM on CUDA uses cuBLASLt, in cuBLAS's workspace, so allocations stay
// the same. CPUs compute 16-bit GEMMs in tiles, like tf32 GEMMs. Nothing is timed.
void product(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ProductOptions& options = {});

// The first failure of a found algorithm, whose GEMM LibTorch then computed; empty if none failed.
std::string product_failure();

// Codes [., M] of fp8_cast() and their scaling.
struct Fp8Operand {
  const at::Tensor& codes;
  const at::Tensor& scaling;
};

struct Fp8ProductOptions {
  bool adds = false;  // to the result
  // On Hopper, partial sums keep 14 fraction bits, instead of being carried to fp32 every 128 terms. NVIDIA uses this
  // in the forward pass only (Transformer Engine, _2X_ACC_FPROP). CPUs sum in fp32.
  bool fast_sums = false;
};

// result [N, P] (bf16) = a [N, M] · (b [P, M])ᵀ, or += with options.adds; at most one operand is e5m2. Sums are fp32
// and rounded once; cuBLASLt also rounds before it adds. CPUs sum the same codes in tiles. Sides are multiples of 16.
void fp8_product(at::Tensor& result_NP, const Fp8Operand& a_NM, const Fp8Operand& b_PM,
                 const Fp8ProductOptions& options = {});

}  // namespace headroom::kernels
