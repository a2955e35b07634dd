// Matrix products of linear layers, on tensors: by LibTorch, or with operands of fewer bits than fp32 or bf16.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "kernels/fp8_cast/fp8_cast_ops.h"

namespace headroom::kernels {

struct ProductOptions {
  bool adds = false;  // to what the result holds
  double alpha = 1;   // the product is multiplied by it
  // fp32 operands are read with 10 bits of fraction, products are exact, and sums are fp32: NVIDIA's TF32 tensor cores. A
  // GPU before Ampere rounds the operands on their way to shared memory. On a CPU they are rounded a tile at a time, which
  // takes 3 MiB of the process, kept for each thread that multiplies, and nothing of LibTorch's allocator.
  bool tf32 = false;
};

enum class NarrowFormat : std::uint8_t { kTf32, kFp8 };

// Whether the current GPU computes products of the format without tensor cores, because its tensor cores do not read it
// (tf32 needs compute capability 8.0, fp8 8.9), or because that was asked for. The same tensors are allocated either way.
bool products_emulated(NarrowFormat format);
void emulate_narrow_products(bool always);  // on every GPU, to compare

// result [N, P] = alpha · a [N, M] · b [M, P], or that added to it. All of one type, any strides. By LibTorch; in 16 bits on
// CUDA by cuBLASLt where an algorithm was found for these shapes (linear_product.h), in the workspace that cuBLAS has on the
// stream anyway, so that the same is allocated; in 16 bits on a CPU a tile at a time, as tf32. Nothing is timed here.
void product(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ProductOptions& options = {});

// Why a product for which an algorithm was found went to LibTorch: the first failure in this process. Empty: none did.
std::string product_failure();

// Codes [., M] of fp8_cast() and their scaling.
struct Fp8Operand {
  const at::Tensor& codes;
  const at::Tensor& scaling;
};

struct Fp8ProductOptions {
  bool adds = false;  // to what the result holds
  // On Hopper partial sums keep 14 bits of fraction where they would be carried to fp32 every 128 terms. NVIDIA's recipe has
  // them in the forward pass alone (Transformer Engine, _2X_ACC_FPROP). A CPU sums in fp32 either way.
  bool fast_sums = false;
};

// result [N, P] = the numbers of a [N, M] times those of b [P, M] transposed, or that added to it; not both are e5m2. The
// result is bf16, sums are fp32, and it is rounded once. By cuBLASLt on CUDA, which
// rounds the product before it adds, or emulated; on a CPU the same sums of the same codes, a tile at a time, as tf32. Sides
// are multiples of 16.
void fp8_product(at::Tensor& result_NP, const Fp8Operand& a_NM, const Fp8Operand& b_PM,
                 const Fp8ProductOptions& options = {});

}  // namespace headroom::kernels
