// Tensors in eight-bit floating point with one scale each (Micikevicius et al. 2022, arXiv:2209.05433).
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "kernels/fp8_cast/fp8_cast.h"

namespace headroom::kernels {

at::ScalarType type_of(Fp8Format format);

// `count` scalings, each a row of fp32 numbers laid out as Fp8Scaling, all zero. One allocation.
at::Tensor fp8_scalings(std::int64_t count, const at::TensorOptions& options);

// Sets a scaling (a row of fp8_scalings()) from the largest magnitude of x. `keeps`: the magnitude stays for
// fp8_advance_(). `not_scaled` (int32 [1]) counts scales that could not be: see fp8_choose(). Two launches on CUDA.
void fp8_measure_(const at::Tensor& x, const at::Tensor& scaling, Fp8Format format, bool keeps,
                  const at::Tensor& not_scaled);

struct Fp8Layouts {
  bool rows = false, transposed = false;
  bool measures = false;  // the largest magnitude is added to the scaling's, for fp8_advance_()
};
struct Fp8Codes {
  at::Tensor rows;        // [R, C]
  at::Tensor transposed;  // [C, R]; undefined where it was not asked for, as is `rows`
};
// Codes of scale · x. x [R, C]: fp32, bf16 or fp16, contiguous, sides multiples of 16. One launch, an allocation for each
// layout. CPU, CUDA, meta.
Fp8Codes fp8_cast(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Layouts& layouts);
// The same into matrices that are there, of codes of more rows of x: `rows` is narrow()ed from [., C], `transposed` from
// [C, .], at a multiple of 16. One of them may be undefined.
void fp8_cast_into(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, const Fp8Codes& codes,
                   bool measures);
// Codes as they are, in the memory of x, of 16 bits, whose numbers are gone. Beside it are the codes of the first rows, a
// sixteenth; those of the rows behind, twice as many with each launch, go where rows were that have their codes.
at::Tensor fp8_cast_in_place(const at::Tensor& x_RC, const at::Tensor& scaling, Fp8Format format, bool measures);

// The end of a step: each scaling follows from the largest magnitudes of the last kFp8History steps. One launch.
void fp8_advance_(const at::Tensor& scalings, const at::Tensor& not_scaled);

// The numbers of codes, without the scale, in float64 on the CPU; and the code of each scale · x by search through all 256,
// for tests.
at::Tensor fp8_numbers(const at::Tensor& codes);
at::Tensor fp8_reference(const at::Tensor& x, double scale, Fp8Format format);

}  // namespace headroom::kernels
